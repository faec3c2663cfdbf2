import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { hostileJson, mutatedBytes } from '../../e2e/fuzz/hostile-bytes.ts';
import type { Document, Located } from '../../e2e/api/openapi-checker.ts';
import { mutatedJson } from '../../protocols/mutations.ts';
import { formText } from '../../support/form-text.ts';
import { PNG } from '../../support/stage/media-studio.ts';
import {
  BOUNDARY,
  FORM_TYPE,
  METHODS,
  ODD_HEADERS,
  QUERY_VALUES,
  RAW_BODIES,
  SEGMENTS,
  TYPES,
  YAML,
} from './hostile-values.ts';
import { SKILL } from './belongings.ts';
import { createSchemaArbitrary } from './schema-arbitrary.ts';
import type { Named, Sample } from './sample-calls.ts';
import { anyCharacter } from '../../support/text/any-character.ts';

/** A request as it is sent, byte for byte. */
export interface HostileRequest {
  method: string;
  /** Path and query, percent-encoded as it pleases. */
  target: string;
  headers: Record<string, string | string[]>;
  body: Buffer;
}

export interface HostileOptions {
  document: Document;
  named: Named;
  /** Bearer. */
  key: string;
  /** The right ways to say the operation. */
  samples: readonly Pick<Sample, 'body' | 'headers'>[];
  /** Its path with everything named, but for what is given. */
  fill(given?: Readonly<Record<string, string>>): string;
}

/** Requests of one documented operation: right, nearly right, and anything but. */
export function hostileRequests(
  { method, path, operation }: Located,
  { document, named, key, samples, fill }: HostileOptions,
): fc.Arbitrary<HostileRequest> {
  const bodies = bodiesOf({ method, path, operation }, { document, named, samples });
  const params = (operation.parameters ?? []).filter((one) => one.in === 'query');
  const own = samples[0]?.headers ?? {};
  // What can be deleted there is deleted by an operation of its own, and not under the feet of others.
  const others = METHODS.filter((one) => one !== 'DELETE' || !document.paths[path]?.['delete']);
  return fc
    .record({
      method: mostly(9, method, fc.constantFrom(...others)),
      target: fc
        .tuple(targets(path, fill), queries(params.map(({ name }) => name)))
        .map(([target, query]) =>
          query === '' ? target : `${target}${target.includes('?') ? '&' : '?'}${query}`,
        ),
      headers: oddHeaders({ ...own, authorization: `Bearer ${key}` }),
      body: bodies,
    })
    .map(({ body, headers, ...rest }) =>
      shown({
        ...rest,
        headers: { ...(body.type !== '' && { 'content-type': body.type }), ...headers },
        body: body.bytes,
      }),
    );
}

/** The same, as a failure prints it. */
function shown(request: HostileRequest): HostileRequest {
  const { method, target, headers, body } = request;
  const { authorization: _key, ...rest } = headers;
  const text = `${method} ${target} ${JSON.stringify(rest)} ${JSON.stringify(body.toString())}`;
  return Object.defineProperty(request, fc.toStringMethod, { value: () => text.slice(0, 5_000) });
}

function mostly<T>(weight: number, right: T, others: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constant(right) }, { weight: 1, arbitrary: others });
}

/** The path with everything named, or one of its parameters something that is no name. */
function targets(path: string, fill: HostileOptions['fill']): fc.Arbitrary<string> {
  const right = fill();
  const holes = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const segment = fc.oneof(
    fc.constantFrom(...SEGMENTS),
    fc.string({ unit: anyCharacter, maxLength: 6 }).map(toPercent),
  );
  const wrong =
    holes.length === 0
      ? segment.map((text) => `${right}/${text}`)
      : fc.tuple(fc.constantFrom(...holes), segment).map(([hole, text]) => fill({ [hole]: text }));
  return mostly(4, right, wrong);
}

/** Any text as a segment; surrogates that stand alone become what no UTF-8 is. */
function toPercent(text: string): string {
  return [...Buffer.from(text, 'utf16le')]
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .join('');
}

function queries(names: readonly string[]): fc.Arbitrary<string> {
  const name = fc.constantFrom(...names, 'version', 'unheard_of', 'limit', 'created_at[gt]', 'key');
  const pair = fc
    .tuple(name, fc.constantFrom(...QUERY_VALUES))
    .map(([one, value]) => `${encodeURIComponent(one)}=${value}`);
  const several = fc.array(pair, { minLength: 1, maxLength: 4 }).map((pairs) => pairs.join('&'));
  return mostly(names.length > 0 ? 1 : 6, '', several);
}

function oddHeaders(own: Record<string, string>): fc.Arbitrary<HostileRequest['headers']> {
  const odd = fc
    .subarray([...ODD_HEADERS], { maxLength: 3 })
    .map((some) => ({ ...own, ...Object.fromEntries(some) }));
  return mostly<HostileRequest['headers']>(3, own, odd);
}

interface Body {
  type: string;
  bytes: Buffer;
}

interface BodySources {
  document: Document;
  named: Named;
  samples: HostileOptions['samples'];
}

function bodiesOf(
  { method, operation }: Located,
  { document, named, samples }: BodySources,
): fc.Arbitrary<Body> {
  const content = operation.requestBody?.content ?? {};
  const raw = fc.record({
    type: fc.constantFrom('application/json', ...TYPES),
    bytes: fc.constantFrom(...RAW_BODIES),
  });
  const none = fc.constant({ type: '', bytes: Buffer.alloc(0) });
  if (method === 'GET' || method === 'DELETE' || method === 'HEAD') return mostlyOf(6, none, raw);
  const schema = content['application/json']?.schema ?? {};
  const valid = createSchemaArbitrary(
    document,
    named,
  )(schema).map((value) => JSON.stringify(value ?? {}));
  const said = samples.flatMap(({ body }) => (body === undefined ? [] : [JSON.stringify(body)]));
  const texts = said.map((text) =>
    fc.oneof(fc.constant(Buffer.from(text)), toBytes(mutatedJson(text)), hostileJson(text)),
  );
  const json = fc.oneof(
    ...texts,
    toBytes(valid),
    toBytes(valid.chain((text) => mutatedJson(text))),
    valid.chain((text) => hostileJson(text)),
  );
  const type = mostly(8, 'application/json', fc.constantFrom(...TYPES));
  const objects = fc.record({ type, bytes: json });
  const isForm = 'multipart/form-data' in content;
  const all = fc.oneof(
    { weight: 4, arbitrary: objects },
    { weight: isForm ? 4 : 0, arbitrary: forms(named) },
    { weight: 'application/yaml' in content ? 2 : 0, arbitrary: yaml(said) },
  );
  return fc.oneof(
    { weight: 8, arbitrary: all },
    { weight: 1, arbitrary: raw },
    { weight: 1, arbitrary: none },
  );
}

function mostlyOf<T>(weight: number, right: fc.Arbitrary<T>, others: fc.Arbitrary<T>) {
  return fc.oneof({ weight, arbitrary: right }, { weight: 1, arbitrary: others });
}

const toBytes = (texts: fc.Arbitrary<string>): fc.Arbitrary<Buffer> =>
  texts.map((text) => Buffer.from(text));

/** JSON is YAML; the rest is not JSON. */
function yaml(said: readonly string[]): fc.Arbitrary<Body> {
  const bytes = fc.oneof(
    fc.constantFrom(...YAML),
    ...said.map((text) =>
      mutatedBytes(Buffer.from(text.replaceAll(',', ',\n').replaceAll('"', ''))),
    ),
    ...said.map((text) => hostileJson(text)),
  );
  return fc.record({ type: fc.constant('application/yaml'), bytes });
}

/** What uploads are made of, right and damaged. */
function forms({ asset }: Named): fc.Arbitrary<Body> {
  const part = fc.constantFrom(
    { name: 'model', content: 'acme/pictures' },
    { name: 'model', content: 'acme/film' },
    { name: 'prompt', content: 'A fox.' },
    { name: 'image', filename: 'a.png', type: 'image/png', content: PNG },
    { name: 'image[]', filename: 'a.png', type: 'image/png', content: PNG },
    { name: 'file', filename: '../../note\u0000.txt', type: 'text/plain', content: 'A note.' },
    { name: 'file', filename: '', content: '' },
    { name: 'files[]', filename: 'review/SKILL.md', content: '---\nname: a\n---\n' },
    { name: 'files[]', filename: '../SKILL.md', content: '\u0000' },
    { name: 'files', filename: 'a.zip', type: 'application/zip', content: 'PK\u0003\u0004' },
    { name: 'display_name', content: 'x'.repeat(70_000) },
    { name: '__proto__', content: 'x' },
    { name: 'input_reference', content: asset },
    { name: '', content: '' },
    { name: 'n', content: '-1' },
    { name: 'purpose', content: 'user_data' },
  );
  const right = fc.constantFrom(
    [{ name: 'file', filename: 'note.txt', type: 'text/plain', content: 'A note.' }],
    [{ name: 'files[]', filename: 'review/SKILL.md', content: SKILL }],
    [
      { name: 'model', content: 'acme/pictures' },
      { name: 'prompt', content: 'A fox.' },
      { name: 'image', filename: 'a.png', type: 'image/png', content: PNG },
    ],
    [
      { name: 'model', content: 'acme/film' },
      { name: 'prompt', content: 'A fox.' },
    ],
  );
  const more = fc.array(part, { maxLength: 4 });
  const whole = fc
    .tuple(fc.oneof(right, fc.constant([])), mostly(2, [], more))
    .map(([parts, others]) => formText(BOUNDARY, [...parts, ...others]));
  return fc.record({
    type: mostly(5, FORM_TYPE, fc.constantFrom(...TYPES)),
    bytes: fc.oneof(
      whole,
      whole.chain((bytes) => mutatedBytes(bytes)),
    ),
  });
}
