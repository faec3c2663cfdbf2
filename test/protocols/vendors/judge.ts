import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Spoken } from '../translating.ts';

/** Bounds of a vendor's request bodies, with their source; `distil.js` beside them makes OpenAI's. */
interface Facts {
  source: string;
  bodies: Partial<Record<Spoken, { $ref: string }>>;
  $defs: Record<string, object>;
}

const FILES = ['openai', 'messages', 'generate-content'];

const facts = FILES.map((name) => {
  const file = new URL(`../../fixtures/vendors/${name}.json`, import.meta.url);
  return { name, ...(JSON.parse(readFileSync(file, 'utf8')) as Facts) };
});

const ajv = new Ajv2020({ strict: false, allErrors: false });
for (const { name, $defs } of facts) ajv.addSchema({ $id: name, $defs });

function validatorOf(protocol: Spoken) {
  for (const { name, bodies } of facts) {
    const body = bodies[protocol];
    if (body) return ajv.compile({ $ref: `${name}${body.$ref}` });
  }
  throw new Error(`no facts of ${protocol}`);
}

const VALIDATORS = {
  chat: validatorOf('chat'),
  responses: validatorOf('responses'),
  messages: validatorOf('messages'),
  'generate-content': validatorOf('generate-content'),
} as const satisfies Record<Spoken, unknown>;

/** What the vendor's own schema finds wrong with a request body; nothing for a valid one. */
export function faultsOf(protocol: Spoken, body: unknown): string[] {
  const validate = VALIDATORS[protocol];
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
