// The OpenAI Node SDK, asked one case at a time: a line of JSON in, a line of JSON out. Its defaults are left alone.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

const [baseURL, folder] = process.argv.slice(2);
const packages = resolve(folder);
const require = createRequire(`${packages}/`);
const { OpenAI, OpenAIError } = require("openai");
const client = new OpenAI({ baseURL, apiKey: "unused" });
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
say({ version: JSON.parse(readFileSync(`${packages}/node_modules/openai/package.json`)).version });

async function ask({ body, headers }) {
  const seen = { text: "", finish: null };
  try {
    const answer = await client.chat.completions.create(body, { headers });
    if (body.stream) {
      for await (const chunk of answer) {
        for (const choice of chunk.choices) {
          seen.text += choice.delta.content ?? "";
          seen.finish = choice.finish_reason ?? seen.finish;
        }
      }
    } else {
      seen.text = answer.choices[0].message.content ?? "";
      seen.finish = answer.choices[0].finish_reason;
    }
  } catch (error) {
    // Whatever it is, it is what the application would see.
    seen.exception = error.constructor.name;
    seen.own = error instanceof OpenAIError;
    seen.status = error.status ?? null;
    seen.code = error.code ?? null;
  }
  return seen;
}

for await (const line of createInterface({ input: process.stdin })) {
  say(await ask(JSON.parse(line)));
}
