"""The OpenAI Python SDK, asked one case at a time: a line of JSON in, a line of JSON out. Its defaults are left alone."""

import json
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="unused")
print(json.dumps({"version": openai.__version__}), flush=True)


def ask(case):
    seen = {"text": "", "finish": None}
    try:
        answer = client.chat.completions.create(**case["body"], extra_headers=case["headers"])
        if case["body"].get("stream"):
            for chunk in answer:
                for choice in chunk.choices:
                    seen["text"] += choice.delta.content or ""
                    seen["finish"] = choice.finish_reason or seen["finish"]
        else:
            seen["text"] = answer.choices[0].message.content or ""
            seen["finish"] = answer.choices[0].finish_reason
    except Exception as error:  # Whatever it is, it is what the application would see.
        seen["exception"] = type(error).__name__
        seen["own"] = isinstance(error, openai.OpenAIError)
        seen["status"] = getattr(error, "status_code", None)
        seen["code"] = getattr(error, "code", None)
    return seen


for line in sys.stdin:
    print(json.dumps(ask(json.loads(line))), flush=True)
