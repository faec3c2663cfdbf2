import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Spoken } from '../translating.ts';

/** Bounds of a vendor's request bodies, with their source; `distil.js` makes OpenAI's and Mistral's. */
interface Facts {
  source: string;
  bodies: Partial<Record<Spoken, { $ref: string }>>;
  $defs: Record<string, object>;
}

const FILES = ['openai', 'messages', 'generate-content', 'mistral', 'cohere'] as const;

const facts = FILES.map((name) => {
  const file = new URL(`../../fixtures/vendors/${name}.json`, import.meta.url);
  return { name, ...(JSON.parse(readFileSync(file, 'utf8')) as Facts) };
});

const ajv = new Ajv2020({ strict: false, allErrors: false });
for (const { name, $defs } of facts) ajv.addSchema({ $id: name, $defs });

function validatorOf(vendor: (typeof FILES)[number], protocol: Spoken) {
  const body = facts.find(({ name }) => name === vendor)?.bodies[protocol];
  if (!body) throw new Error(`${vendor} has no facts of ${protocol}`);
  return ajv.compile({ $ref: `${vendor}${body.$ref}` });
}

const VALIDATORS = {
  chat: validatorOf('openai', 'chat'),
  responses: validatorOf('openai', 'responses'),
  messages: validatorOf('messages', 'messages'),
  'generate-content': validatorOf('generate-content', 'generate-content'),
  mistral: validatorOf('mistral', 'chat'),
  cohere: validatorOf('cohere', 'chat'),
} as const satisfies Record<Spoken | 'mistral' | 'cohere', unknown>;

/** What a vendor's own schema finds wrong with a request body; nothing for a valid one. */
export function faultsOf(judge: keyof typeof VALIDATORS, body: unknown): string[] {
  const validate = VALIDATORS[judge];
  if (validate(body)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${instancePath} ${message} ${JSON.stringify(params)}: ${JSON.stringify(valueAt(body, instancePath))?.slice(0, 120)}`,
  );
}

function valueAt(body: unknown, path: string): unknown {
  return path
    .split('/')
    .slice(1)
    .reduce<any>((value, step) => value?.[step], body);
}
