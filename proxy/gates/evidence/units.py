"""Units by their names and signs, German and English, with exact factors.

Factors are those of the SI brochure (9th edition) and, for inch, foot, yard, mile, pound, ounce and
gallon, of NIST Special Publication 811, appendix B. Temperatures also have an offset.
"""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Unit:
    """`kind`: what is measured. A value in this unit is `value * factor + offset` of the kind."""

    kind: str
    factor: float
    offset: float = 0.0

    def base(self, value: float) -> float:
        return value * self.factor + self.offset


PERCENT: Final = Unit("share", 0.01)
SHARE: Final = Unit("share", 1.0)
HOUR: Final = Unit("time", 3600.0)
MINUTE: Final = Unit("time", 60.0)
YEAR: Final = Unit("months", 12.0)
CENTURY: Final = Unit("months", 1200.0)
TIMES: Final = Unit("times", 1.0)

_FAHRENHEIT: Final = Unit("temperature", 5 / 9, 273.15 - 32 * 5 / 9)
_TABLE: Final = (
    (PERCENT, "% prozent percent pct v.h. vh prozentig prozentige prozentigen prozentiger"),
    (Unit("share", 0.001), "‰ promille per-mille"),
    (Unit("points", 1.0), "prozentpunkte prozentpunkten prozentpunkt pp"),
    (Unit("length", 1.0), "m meter metern metre metres meters"),
    (Unit("length", 1e3), "km kilometer kilometern kilometre kilometres kilometers"),
    (Unit("length", 0.01), "cm zentimeter zentimetern centimetre centimetres centimeters"),
    (Unit("length", 1e-3), "mm millimeter millimetern millimetre millimetres millimeters"),
    (Unit("length", 1e-6), "µm μm mikrometer micrometer micrometers micrometre"),
    (Unit("length", 1e-9), "nm nanometer nanometern nanometers"),
    (Unit("length", 0.0254), "zoll inch inches"),
    (Unit("length", 0.3048), "ft foot feet fuss fuß"),
    (Unit("length", 0.9144), "yd yard yards"),
    (Unit("length", 1609.344), "mi mile miles meile meilen"),
    (Unit("mass", 1.0), "kg kilo kilos kilogramm kilogram kilograms"),
    (Unit("mass", 1e-3), "g gramm gram grams"),
    (Unit("mass", 1e-6), "mg milligramm milligram milligrams"),
    (Unit("mass", 1e-9), "µg μg mikrogramm microgram micrograms"),
    (Unit("mass", 1e3), "t tonne tonnen tonnes"),
    (Unit("mass", 0.45359237), "lb lbs pound pounds"),
    (Unit("mass", 0.028349523125), "oz ounce ounces"),
    (Unit("time", 1.0), "s sek sek. sec sekunde sekunden second seconds"),
    (Unit("time", 1e-3), "ms millisekunde millisekunden millisecond milliseconds"),
    (Unit("time", 1e-6), "µs μs mikrosekunde mikrosekunden microsecond microseconds"),
    (MINUTE, "min min. minute minuten minutes minütig minütige minütigen"),
    (HOUR, "h std std. stunde stunden hour hours hrs stündig stündige stündigen"),
    (Unit("time", 86400.0), "tag tage tagen day days tägig tägige tägigen"),
    (Unit("time", 604800.0), "woche wochen week weeks wöchig wöchige wöchigen"),
    (Unit("months", 1.0), "monat monate monaten month months monatig monatige monatigen"),
    (Unit("months", 3.0), "quartal quartale quartalen"),
    (YEAR, "jahr jahre jahren year years jährig jährige jährigen jährigem jähriger yr yrs"),
    (Unit("months", 120.0), "jahrzehnt jahrzehnte jahrzehnten jahrzehnts decade decades"),
    (CENTURY,
     "jahrhundert jahrhunderts jahrhunderte jahrhunderten century centuries"),
    (Unit("months", 12000.0), "jahrtausend jahrtausends jahrtausende millennium millennia"),
    (Unit("speed", 1 / 3.6), "km/h kmh km/std kph stundenkilometer"),
    (Unit("speed", 1.0), "m/s"),
    (Unit("speed", 0.44704), "mph"),
    (Unit("temperature", 1.0, 273.15), "°c ° c grad celsius degree degrees"),
    (_FAHRENHEIT, "°f fahrenheit"),
    (Unit("temperature", 1.0), "kelvin"),
    (Unit("area", 1.0), "m² m2 qm quadratmeter quadratmetern"),
    (Unit("area", 1e6), "km² km2 quadratkilometer quadratkilometern"),
    (Unit("area", 1e4), "ha hektar hektare hektaren hectare hectares"),
    (Unit("area", 4046.8564224), "acre acres"),
    (Unit("volume", 1.0), "l liter litern litre litres liters"),
    (Unit("volume", 0.1), "dl deziliter dezilitern"),
    (Unit("volume", 0.01), "cl zentiliter zentilitern"),
    (Unit("volume", 1e-3), "ml milliliter millilitern millilitre millilitres milliliters cm³"),
    (Unit("volume", 100.0), "hl hektoliter hektolitern"),
    (Unit("volume", 1e3), "m³ m3 kubikmeter kubikmetern"),
    (Unit("volume", 3.785411784), "gallon gallons"),
    (Unit("energy", 1.0), "j joule joules"),
    (Unit("energy", 3.6e6), "kwh kilowattstunde kilowattstunden kilowatt-hours"),
    (Unit("energy", 3.6e9), "mwh megawattstunde megawattstunden"),
    (Unit("energy", 3.6e12), "gwh gigawattstunde gigawattstunden"),
    (Unit("energy", 3.6e15), "twh terawattstunde terawattstunden"),
    (Unit("energy", 4184.0), "kcal kilokalorie kilokalorien kilocalories"),
    (Unit("power", 1.0), "w watt"),
    (Unit("power", 1e3), "kw kilowatt kilowatts"),
    (Unit("power", 1e6), "mw megawatt megawatts"),
    (Unit("power", 1e9), "gw gigawatt gigawatts"),
    (Unit("power", 735.49875), "ps"),
    (Unit("voltage", 1.0), "v volt volts"),
    (Unit("current", 1.0), "ampere amperes amps"),
    (Unit("frequency", 1.0), "hz hertz"),
    (Unit("frequency", 1e3), "khz"),
    (Unit("frequency", 1e6), "mhz megahertz"),
    (Unit("frequency", 1e9), "ghz gigahertz"),
    (Unit("pressure", 1.0), "pa pascal"),
    (Unit("pressure", 100.0), "hpa mbar hektopascal"),
    (Unit("pressure", 1e5), "bar"),
    (Unit("sound", 1.0), "db dezibel decibel decibels"),
    (Unit("data", 1.0), "byte bytes"),
    (Unit("data", 1e3), "kb kilobyte kilobytes"),
    (Unit("data", 1e6), "mb megabyte megabytes"),
    (Unit("data", 1e9), "gb gigabyte gigabytes"),
    (Unit("data", 1e12), "tb terabyte terabytes"),
    (Unit("data", 1024.0), "kib"),
    (Unit("data", 1048576.0), "mib"),
    (Unit("data", 1073741824.0), "gib"),
    (Unit("rate", 1e6), "mbit/s mbps"),
    (Unit("rate", 1e9), "gbit/s gbps"),
    (Unit("EUR", 1.0), "€ eur euro euros"),
    (Unit("EUR", 0.01), "eurocent"),
    (Unit("CHF", 1.0), "chf franken fr fr. francs sfr sfr."),
    (Unit("CHF", 0.01), "rappen"),
    (Unit("USD", 1.0), "$ usd us$ us-dollar us-dollars dollar dollars"),
    (Unit("GBP", 1.0), "£ gbp pfund sterling"),
    (Unit("JPY", 1.0), "¥ jpy yen"),
    (TIMES, "mal fach fache fachen facher"),
)  # fmt: skip

UNITS: Final = {name: unit for unit, names in _TABLE for name in names.split()}
# Endings of JSON keys that say a unit: wind_kmh, temperature_c, share_pct.
_KEY_ONLY: Final = {"c": UNITS["°c"], "f": UNITS["°f"], "sec": UNITS["s"], "mins": MINUTE,
                    "celsius": UNITS["°c"], "percentage": PERCENT}  # fmt: skip

_SYMBOLS: Final = "|".join(
    re.escape(name) for name in sorted(UNITS, key=len, reverse=True) if not name.isalpha()
)
# A unit behind a number: a sign, or a whole word. "°", "c" alone are told by the table.
UNIT: Final = rf"(?:(?i:{_SYMBOLS})|[^\W\d_]+(?:/[^\W\d_]+[²³]?)?)"
CURRENCY: Final = r"(?:US\$|[$€£¥]|CHF|EUR|USD|GBP|SFr\.?|Fr\.?)"
_NO_UNITS: Final = frozenset("MGTKkBSHcCfF")


def unit_named(name: str) -> Unit | None:
    """The unit of a name as it stands behind a number; one-letter signs keep their case."""
    if name in _NO_UNITS:
        return None
    known = UNITS.get(name) or UNITS.get(name.lower())
    over, _, under = name.partition("/")
    if known is None and under:
        return _ratio(unit_named(over), unit_named(under))
    return known


def _ratio(over: Unit | None, under: Unit | None) -> Unit | None:
    """The unit of an amount per amount, such as mg/l."""
    if over is None or under is None or over.offset or under.offset:
        return None
    return Unit(f"{over.kind}/{under.kind}", over.factor / under.factor)


def unit_of_key(key: str) -> Unit | None:
    """The unit that a JSON key names in its last part, such as `wind_kmh` or `sizeGb`."""
    parts = re.split(r"[_\-. ]|(?<=[a-z])(?=[A-Z])", key)
    if len(parts) < 2:  # noqa: PLR2004 - a key that is nothing but a unit names the thing itself
        return None
    last = parts[-1].lower()
    return _KEY_ONLY.get(last) or UNITS.get(last)
