import msgspec

from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource


def test_record_of_a_start_survives_json_and_leaves_out_what_says_nothing() -> None:
    record = EngineStartRecord(
        "main", "1.5", StartSource.METRICS, 2.0, 1.5, first_answer=FirstAnswer.VALID
    )

    body = msgspec.json.encode(record)

    assert msgspec.json.decode(body, type=EngineStartRecord) == record
    assert b"untouched" not in body
