"""A claim model of a few nodes: its outputs count the tokens of the two texts of a pair."""

import json
from pathlib import Path

import pytest

WORDS = {"[PAD]": 0, "[UNK]": 1, "Mast": 2, "Bus": 3, "brach": 4, "fuhr": 5}


def tokenizer_file(folder: Path) -> str:
    """A tokenizer that splits at blanks, and knows the words above."""
    document: dict[str, object] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [
                {"Sequence": {"id": "A", "type_id": 0}},
                {"Sequence": {"id": "B", "type_id": 1}},
            ],
            "special_tokens": {},
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": WORDS, "unk_token": "[UNK]"},
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def model_file(folder: Path, outputs: int, wanted: str = "token_type_ids") -> str:
    """Counts the tokens of each text of a pair; with one output, those of the claim."""
    onnx = pytest.importorskip("onnx")
    helper, types = onnx.helper, onnx.TensorProto
    shape = ["batch", "tokens"]
    inputs = [
        helper.make_tensor_value_info(name, types.INT64, shape)
        for name in ("input_ids", "attention_mask", wanted)
    ]
    nodes = [
        helper.make_node("Mul", [wanted, "attention_mask"], ["of_claim"]),
        helper.make_node("Sub", ["attention_mask", "of_claim"], ["of_source"]),
        helper.make_node("Mul", ["input_ids", "of_claim"], ["unused"]),
        helper.make_node("ReduceSum", ["of_claim", "axis"], ["claim_count"], keepdims=1),
        helper.make_node("ReduceSum", ["of_source", "axis"], ["source_count"], keepdims=1),
        helper.make_node("Concat", ["source_count", "claim_count"], ["both"], axis=1),
        helper.make_node("Cast", ["both" if outputs > 1 else "claim_count"], ["logits"], to=1),
    ]
    axis = helper.make_tensor("axis", types.INT64, [1], [1])
    output = helper.make_tensor_value_info("logits", types.FLOAT, ["batch", outputs])
    graph = helper.make_graph(nodes, "counts", inputs, [output], [axis])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = folder / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return str(path)
