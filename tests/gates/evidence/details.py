"""Sources, answers to each, and what of an answer a source does not bear."""

from typing import Final

# By source: answers, and what is flagged of them.
CASES: Final[dict[str, list[tuple[str, list[str]]]]] = {
    "Der Akku hält 12 Stunden und wiegt 1,2 kg. Preis: CHF 1'249.90.": [
        ("Der Akku hält zwölf Stunden, wiegt 1200 Gramm und kostet 1249.90 Franken.", []),
        ("Das Gerät wiegt 1,2 Gramm.", ["1,2 Gramm"]),
        ("Das Gerät kostet 1249.90 Euro.", ["1249.90 Euro"]),
        ("Der Preis liegt bei rund 1250 Franken.", []),
        ("Der Preis liegt bei 1249 Franken.", ["1249 Franken"]),
    ],
    "Die Latenz sank um 35 %.": [
        ("Der Umsatz stieg auf 35 Mio. Euro.", ["35 Mio. Euro"]),
        ("Die Latenz sank um 35 Prozent.", []),
        ("Die Latenz sank um 35 Prozentpunkte.", ["35 Prozentpunkte"]),
        ("35 Personen waren dabei.", ["35"]),
    ],
    "Die Stiftung vergab 1.500 Stipendien und 250 Preise.": [
        ("Die Stiftung vergab 50 Stipendien.", ["50"]),
        ("Die Stiftung vergab 1500 Stipendien.", []),
    ],
    "The sample weighed 1,000.5 g.": [
        ("Die Probe wog 1,0005 g.", ["1,0005 g"]),
        ("Die Probe wog 1.000,5 g.", []),
    ],
    "Das Rentenalter liegt bei 67 Jahren; die Regel gilt seit dem 1. Januar 2012.": [
        (
            "Das Rentenalter liegt bei 65 Jahren; die Regel gilt seit dem 1. Januar 2012.",
            ["65 Jahren"],
        ),
        ("Seit 01.01.2012 gilt ein Rentenalter von 67 Jahren.", []),
        ("Seit Januar 2012 gilt das.", []),
    ],
    "Das Rentenalter liegt bei 67 Jahren; die Regel gilt seit Januar 2012.": [
        ("Seit 1. Januar 2012 gilt das.", ["1. Januar 2012"]),
    ],
    "Die Behörde sprach von „Höchst\xadstand“ \u2013 rund 3\u2011mal so viel wie 2019, ≥ 1 200.": [
        (
            'Die Behörde sprach von "Höchststand" - rund 3-mal so viel wie 2019, mindestens 1.200.',
            [],
        ),
    ],
    "Der Zug fährt um 7.02 Uhr ab und kommt um 9.11 Uhr an.": [
        ("Die Fahrt dauert 2 Stunden und 9 Minuten.", []),
        ("Die Fahrt dauert 2 Stunden und 19 Minuten.", ["2 Stunden und 19 Minuten"]),
        ("Abfahrt ist um 7:12 Uhr.", ["7:12 Uhr"]),
        ("The train leaves at 7:02 am.", []),
    ],
    "2022 kamen 1'098 Gäste, 2023 waren es 1'247.": [
        ("2023 kamen 149 Gäste mehr als 2022.", []),
        ("Zusammen kamen 2345 Gäste.", []),
        ("2023 kamen 150 Gäste mehr als 2022.", ["150"]),
        ("Das entspricht 13,6 Prozent mehr.", []),
    ],
    "Teilnehmende: 48 Personen, davon 36 Frauen.": [
        ("Drei Viertel der Teilnehmenden waren Frauen.", []),
        ("75 Prozent der Teilnehmenden waren Frauen.", []),
        ("12 Teilnehmende waren Männer.", ["12"]),
        ("Die restlichen 12 Teilnehmenden waren Männer.", []),
    ],
    "Release 4.2.1 fixes a crash. Get it at https://example.org/dl/4.2.1.": [
        ("Release 4.2.1 is at https://example.org/dl/4.2.1.", []),
        (
            "Version 4.3.1 is at https://example.org/download.",
            ["4.3.1", "https://example.org/download"],
        ),
        ("See example.org for more.", []),
    ],
    "Im 20. Jahrhundert wuchs die Stadt auf 300'000 Einwohner.": [
        ("Im 19. Jahrhundert wuchs die Stadt.", ["19. Jahrhundert"]),
    ],
    "Im Jahr 1957 wuchs die Stadt.": [
        ("Mitte des 20. Jahrhunderts wuchs die Stadt.", []),
        ("In den 1950er-Jahren wuchs die Stadt.", []),
        ("In den 1960er-Jahren wuchs die Stadt.", ["1960er"]),
    ],
    "The study ran from 2015 to 2019 with 1,024 people.": [
        ("Die Studie lief vier Jahre lang mit 1024 Personen.", []),
        ("Die Studie lief fünf Jahre lang mit 1024 Personen.", ["fünf Jahre"]),
    ],
    "Der Umsatz betrug 3,5 Mio. Franken.": [
        ("Der Umsatz betrug 3'500'000 Franken.", []),
        ("Der Umsatz betrug dreieinhalb Millionen Franken.", []),
        ("Der Umsatz betrug 3,5 Mrd. Franken.", ["3,5 Mrd. Franken"]),
        ("Der Umsatz betrug gut drei Millionen Franken.", []),
        ("Der Umsatz betrug über vier Millionen Franken.", ["vier Millionen Franken"]),
    ],
    "Schritte: mahlen, brühen, servieren.": [
        ("1. Mahlen\n2. Brühen\n3. Servieren", []),
    ],
    "Schritte: mahlen, brühen, servieren. Dauer 5 Minuten.": [
        ("Das dauert 5 Minuten [1][2].\n\n```\nx = 77\n```", []),
    ],
    '{"temp_c": 21.5, "humidity_pct": 48, "wind_kmh": 31, "price_eur": 12}': [
        ("21,5 °C, 48 Prozent Luftfeuchtigkeit, Wind 31 km/h, 12 Euro.", []),
        ("Der Wind weht mit 31 m/s.", ["31 m/s"]),
        ("It costs $12 and is 21.5 degrees Fahrenheit.", ["$12"]),
    ],
    "Sie sagte: «Wir haben das nie behauptet.»": [
        ("Sie sagte: „Wir haben das nie behauptet“.", []),
        ("Sie sagte: „Wir haben das immer behauptet“.", ["Wir haben das immer behauptet"]),
    ],
    "Sie sagte: «Wir haben das, soweit ich weiss, nie behauptet.»": [
        ("Sie sagte: «Wir haben das […] nie behauptet.»", []),
    ],
    "Temperatur: \u22125 °C.": [
        ("Es sind minus fünf Grad.", []),
        ("Es sind 5 Grad über null.", ["5 Grad"]),
    ],
    "Der Weg ist 10 km lang.": [
        ("Der Weg ist gut sechs Meilen lang.", []),
        ("Der Weg ist 6,2 Meilen lang.", []),
        ("Der Weg ist 8 Meilen lang.", ["8 Meilen"]),
    ],
    "Die Frist läuft 90 Minuten.": [
        ("Die Frist läuft anderthalb Stunden.", []),
    ],
    "Geöffnet Montag bis Freitag, 8 bis 17 Uhr.": [
        ("Geöffnet werktags von 8.00 bis 17.00 Uhr.", []),
        ("Geöffnet bis 18 Uhr, auch am Samstag.", ["18 Uhr", "Samstag"]),
    ],
    "Am 3. Mai 2024 (Freitag) beginnt der Kurs.": [
        ("Der Kurs beginnt am 4. Mai 2024.", ["4. Mai 2024"]),
    ],
    "Kontakt: +41 44 123 45 67, info@example.ch": [
        ("Tel. 044 123 45 67", []),
        ("Tel. +41 44 123 45 76, mail info@example.com", ["+41 44 123 45 76", "info@example.com"]),
    ],
    "ISBN 978-3-16-148410-0": [
        ("Die ISBN lautet 978-3-16-148410-1.", ["978-3-16-148410-1"]),
    ],
    "The GPU RTX 4090 has 24 GB.": [
        ("Die RTX 4090 hat 24 GB.", []),
        ("Die RTX 4080 hat 24 GB.", ["RTX 4080"]),
        ("Die RTX 4090 hat 24 MB.", ["24 MB"]),
    ],
    "Between 5 and 10 million people": [
        ("Zwischen 5 und 10 Millionen Menschen", []),
    ],
    "Rund 5 bis 10 Prozent fallen aus.": [
        ("5\u201310 % fallen aus.", []),
    ],
    "Die Quote stieg von 4,1 auf 4,5 Prozent.": [
        ("Die Quote stieg um 0,4 Prozentpunkte.", []),
        ("Die Quote stieg um 0,4 Prozent.", ["0,4 Prozent"]),
    ],
    "Revenue rose to $3.2bn in 2024.": [
        ("Umsatz 2024: 3,2 Milliarden Dollar.", []),
        ("Umsatz 2024: 3,2 Millionen Dollar.", ["3,2 Millionen Dollar"]),
    ],
    "Ein Ei kostet 60 Rappen.": [
        ("Ein Ei kostet 0,60 Franken.", []),
    ],
    "Das Tor fiel in der 87. Minute zum 2:1.": [
        ("Das 2:1 fiel in der 87. Minute.", []),
        ("Das 3:1 fiel in der 78. Minute.", ["3", "78. Minute"]),
    ],
    "He was born in 1920 and died in 2001.": [
        ("He died aged 81.", []),
        ("He died in 2011.", ["2011"]),
    ],
    "Model X-200 ships with 16 GB RAM.": [
        ("Modell X-200 hat 16 GB RAM.", []),
        ("Modell X-300 hat 16 GB RAM.", ["X-300"]),
    ],
    "Laut Tabelle 1 250 Stück.": [
        ("1250 Stück laut Tabelle.", []),
    ],
    "Rp. 5.- und 20 Kilo": [
        ("Fr. 5.\u2013", []),
    ],
    "Zahl: 1\u200b2\u200b34": [
        ("Die Zahl ist 1234.", []),
    ],
    "Zahl: 1234": [
        ("Die Zahl ist 12\u200b34.", []),
        ("Die Zahl ist 12\u200b35.", ["12\u200b35"]),
    ],
    "كان عدد السكان ١٢٣٤ نسمة": [
        ("Population: 1234", []),
    ],
    "Es waren 7 Tage.": [
        ("Es war eine Woche.", []),
        ("Es waren zwei Wochen.", ["zwei Wochen"]),
    ],
    "Auf 1 m² kommen 12 Pflanzen.": [
        ("Pro Quadratmeter 12 Pflanzen.", []),
    ],
    "Das Haus hat eine Fläche von 120 m2.": [
        ("Das Haus hat 120 Quadratmeter.", []),
        ("Das Haus hat 120 Quadratkilometer.", ["120 Quadratkilometer"]),
    ],
    "CO2-Ausstoss sank 2023 um 3 Prozent": [
        ("Der CO₂-Ausstoss sank 2023 um 3 %.", []),
    ],
    "Das Budget wurde verdoppelt, von 2 auf 4 Millionen Franken.": [
        ("Das Budget stieg um 2 Millionen auf 4 Mio. Franken.", []),
    ],
    "Grade 8 pupils read 3 books.": [
        ("Third-graders", []),
    ],
    "The Q3 report: revenue $4.25M (+12% YoY). Contact sales@acme.io by 15 June.": [
        (
            "Im dritten Quartal 12 % mehr, 4,25 Mio. Dollar; sales@acme.io, 15. Juni.",
            [],
        ),
    ],
    "The Q3 report: revenue $4.25M (+12% YoY), 1,300 customers.": [
        ("Umsatz 4,25 Milliarden Dollar, 1.300 Kunden.", ["4,25 Milliarden Dollar"]),
    ],
    "Öffnungszeiten: Mo\u2013Fr 08:00\u201318:30, Sa 9\u201316 Uhr.": [
        ("Geöffnet ist werktags von 8 Uhr bis 18.30 Uhr und samstags von 9 bis 16 Uhr.", []),
        ("Geöffnet ist bis 19 Uhr.", ["19 Uhr"]),
    ],
    "Die Brücke ist 1,2 km lang. Baubeginn 2019, Eröffnung 2023, Kosten CHF 128 Mio.": [
        (
            "Die 1200 Meter lange Brücke kostete 128 Millionen Franken, nach vier Jahren.",
            [],
        ),
    ],
    "Die Brücke ist 1,2 km lang und 45 m hoch.": [
        ("Die Brücke ist 1,2 km lang und 54 m hoch.", ["54 m"]),
    ],
    "Die Temperatur stieg von 18,5 auf 21 Grad.": [
        ("Es wurde 2,5 Grad wärmer, die Temperatur stieg auf 21 °C.", []),
    ],
    "120 von 400 Befragten sagten Ja.": [
        ("Rund ein Drittel sagte Ja: 30 Prozent.", []),
        ("40 Prozent sagten Ja.", ["40 Prozent"]),
    ],
    "Der Kurs hat drei Abende: 3., 10. und 17. März 2025, je 90 Minuten.": [
        (
            "Drei Abende zu je anderthalb Stunden, der erste ist am 3. März 2025.",
            [],
        ),
        ("Insgesamt dauert er viereinhalb Stunden.", []),
    ],
    "ACME-3000X: 2.4 kg, 5,000 mAh, Bluetooth 5.3, 199 €.": [
        (
            "Das ACME-3000X wiegt 2,4 kg, hat 5000 mAh, Bluetooth 5.3 und kostet 199 Euro.",
            [],
        ),
        ("Das ACME-3000X hat Bluetooth 5.2 und kostet 189 Euro.", ["5.2", "189 Euro"]),
    ],
    "Die Studie (n=36) lief 8 Wochen.": [
        ("An der achtwöchigen Studie nahmen 36 Personen teil.", []),
        ("An der zwölfwöchigen Studie nahmen 36 Personen teil.", ["zwölfwöchigen"]),
    ],
    "Bis 2030 sollen die Emissionen um 50 % gegenüber 1990 sinken.": [
        ("Die Emissionen sollen sich bis 2030 gegenüber 1990 halbieren.", []),
    ],
    "Artikel 5 Absatz 2 gilt seit 1.1.2024.": [
        ("Art. 5 Abs. 2 gilt seit dem 1. Januar 2024.", []),
    ],
    "§ 12 Abs. 3 BGB": [
        ("Nach § 13 Abs. 3 BGB", ["13"]),
    ],
    "Von 2015\u20132020 wuchs die Stadt um 3'400 Personen auf 58'200.": [
        ("Zwischen 2015 und 2020 stieg die Einwohnerzahl um 3400 auf über 58 000.", []),
    ],
    "Wert: 3.14159": [
        ("Pi ist rund 3,14.", []),
        ("Pi ist 3,15.", ["3,15"]),
    ],
    "Er gewann 6:3, 4:6, 7:5.": [
        ("Er gewann mit 6:3, 4:6 und 7:5.", []),
    ],
    "Tel. 0800 123 456": [
        ("Rufen Sie 0800 123 456 an.", []),
    ],
    "It costs between $10 and $20.": [
        ("Es kostet 10 bis 20 Dollar.", []),
    ],
    "Fahrzeit: 1 h 25 min": [
        ("Die Fahrt dauert 85 Minuten.", []),
        ("Die Fahrt dauert 1:25 Stunden.", []),
    ],
    "The match drew 50k fans.": [
        ("Rund 50'000 Fans kamen.", []),
    ],
    "Umsatz 2023: 1,25 Mrd. €": [
        ("Der Umsatz lag bei 1250 Millionen Euro.", []),
    ],
    "Anteil 0,35": [
        ("35 Prozent", []),
    ],
    "He scored 25 points in 32 minutes.": [
        ("He scored twenty-five points in thirty-two minutes.", []),
    ],
    "Die Reserve reicht für 2,5 Tage.": [
        ("Die Reserve reicht für zweieinhalb Tage, also 60 Stunden.", []),
    ],
    "10⁶ Zellen, 5\u00d710³ Proben": [
        ("10⁶ Zellen", []),
    ],
    "pH 7,4 bei 37 °C": [
        ("pH 7.4 at 37 degrees Celsius", []),
    ],
    "Version 2.0 (May 2023)": [
        ("v2.0 from May 2023", []),
    ],
    "Die Zahl der Fälle stieg von 1.024 auf 2.048.": [
        ("Die Zahl der Fälle verdoppelte sich auf 2048.", []),
    ],
    "Am Dienstag, 4. Juni": [
        ("Am Dienstag, dem 4. Juni, beginnt es.", []),
    ],
    "seit 3 Jahren": [
        ("seit drei Jahren", []),
    ],
    "The company, founded in 1998, has 12 offices.": [
        ("Das 1998 gegründete Unternehmen hat ein Dutzend Büros.", []),
    ],
    "Ticket #4521 closed": [
        ("Das Ticket 4521 ist geschlossen.", []),
    ],
    "IBAN CH93 0076 2011 6238 5295 7": [
        ("IBAN CH93 0076 2011 6238 5295 7", []),
        ("IBAN CH93 0076 2011 6238 5295 8", ["8"]),
    ],
}
