import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../../src/protocols/responses/public/event-shapes.ts';
import { keepPublic } from '../../../src/protocols/responses/public/keep-public.ts';
import { RESPONSE } from '../../../src/protocols/responses/public/response-shape.ts';
import type { Shape } from '../../../src/protocols/responses/public/shape.ts';
import { verifies } from '../../requirements.ts';
import { Open, SdkTypes, UserMap } from './sdk-types.ts';
import { inTurn } from '../../runs.ts';

const CLIENTS = inTurn('public members of clients', ['openai', 'openai-6']).map((name) => {
  const resources = new URL(`../../../node_modules/${name}/resources/`, import.meta.url);
  const files = ['shared.d.ts', 'responses/responses.d.ts'].map((file) => new URL(file, resources));
  return { name, types: new SdkTypes(...files) };
});

const SECRET = { payer: { account: 'acct_9' }, 'quoted "name"': [1, { 'a}': '],{' }] };

/** As JSON, with extensions that nobody declared at both ends of every object if asked for. */
function toJson(value: unknown, extend: boolean): unknown {
  if (value instanceof Open) return value.value;
  if (Array.isArray(value)) return value.map((one) => toJson(one, extend));
  if (typeof value !== 'object' || value === null) return value;
  const isMap = value instanceof UserMap;
  const entries = isMap ? value.entries : Object.entries(value);
  const all = Object.fromEntries(entries.map(([name, one]) => [name, toJson(one, extend)]));
  return extend && !isMap ? { routing: SECRET, ...all, billing: SECRET, constructor: 1 } : all;
}

interface Event {
  type: string;
  annotation?: unknown;
  response?: unknown;
}

function shapeOf({ type }: Event): Shape {
  const shape = EVENTS.get(type);
  if (!shape) throw new Error(`${type} is not public`);
  return shape;
}

describe.each(CLIENTS)('the public members of $name', ({ types }) => {
  it(
    verifies('responses.response.public-only', 'are all kept, and others are not, at any depth'),
    () => {
      const samples = types.samples('Response');
      expect(samples.length).toBeGreaterThan(5);
      for (const sample of samples) {
        const clean = JSON.stringify(toJson(sample, false));
        expect(keepPublic(clean, RESPONSE)).toBe(clean);
        expect(keepPublic(JSON.stringify(toJson(sample, true)), RESPONSE)).toBe(clean);
      }
    },
  );

  it(verifies('responses.stream.public-events', 'are all kept in events, and no others'), () => {
    const seen = new Set<string>();
    const samples = (types.samples('ResponseStreamEvent') as Event[]).filter((sample) => {
      const { type, annotation, response } = sample;
      // One of each event that holds a whole response, whose samples are all tested above.
      const isKnown = response !== undefined && seen.has(type);
      seen.add(type);
      // The older client leaves open what an annotation is.
      return !isKnown && !(annotation instanceof Open);
    });
    expect(samples.length).toBeGreaterThan(50);
    for (const sample of samples) {
      const clean = JSON.stringify(toJson(sample, false));
      expect(keepPublic(clean, shapeOf(sample))).toBe(clean);
      expect(keepPublic(JSON.stringify(toJson(sample, true)), shapeOf(sample))).toBe(clean);
    }
  });
});
