"""The sources and shapes that the load's requests bring along; all of them are made up."""

from collections.abc import Mapping
from typing import Any, Final

LOCK: Final = (
    "The lock at Marren was opened on 14 May 1987 and is 110 metres long. Its two steel gates "
    "weigh 42 tonnes each and replaced timber gates that had rotted at the sill. About 3,200 "
    "boats pass every year, most of them between April and October. The keeper fills the "
    "chamber through four valves, which takes nine minutes. In a dry summer the water board "
    "limits the lock to six fillings a day, because each of them takes 5,400 cubic metres of "
    "water from the upper canal. A pump brings part of it back at night. The board wants to "
    "replace the pump when its budget allows, and asks boats to wait until the chamber can be "
    "shared."
)
SCHLEUSE: Final = (
    "Die Schleuse in Marren wurde am 14. Mai 1987 eröffnet und ist 110 Meter lang. Ihre zwei "
    "Tore aus Stahl wiegen je 42 Tonnen und ersetzten Tore aus Holz, die an der Schwelle "
    "verfault waren. Rund 3200 Boote fahren jedes Jahr hindurch, die meisten zwischen April "
    "und Oktober. Der Wärter füllt die Kammer durch vier Ventile, was neun Minuten dauert. In "
    "einem trockenen Sommer begrenzt das Wasseramt die Schleuse auf sechs Füllungen am Tag, "
    "weil jede davon 5400 Kubikmeter Wasser aus dem oberen Kanal nimmt. Eine Pumpe bringt "
    "einen Teil davon in der Nacht zurück. Das Amt will die Pumpe ersetzen, wenn sein "
    "Haushalt es erlaubt, und bittet Boote zu warten, bis die Kammer gemeinsam genutzt werden "
    "kann."
)


def strict(name: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    """`response_format` for an object that has exactly these properties."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    described = {"name": name, "strict": True, "schema": schema}
    return {"type": "json_schema", "json_schema": described}


STATUS: Final = strict(
    "status",
    state={"enum": ["open", "closed", "filling"]},
    level_metres={"type": "number", "minimum": 0, "maximum": 8},
    boats={"type": "integer", "minimum": 0, "maximum": 20},
    remarks={"type": "array", "items": {"type": "string", "maxLength": 60}, "maxItems": 3},
)
TEASER: Final = strict("teaser", title={"type": "string"}, teaser={"type": "string"})
KURZTEXT: Final = strict(
    "kurztext", titel={"type": "string"}, teaser={"type": "string"}, kurztext={"type": "string"}
)
VALVE: Final = {
    "type": "function",
    "function": {
        "name": "set_valve",
        "description": "Turn one valve of the chamber",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {
                "valve": {"type": "integer", "minimum": 1, "maximum": 4},
                "direction": {"enum": ["open", "close"]},
            },
            "required": ["valve", "direction"],
            "additionalProperties": False,
        },
    },
}
