import { Buffer } from 'node:buffer';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { isJsonObject, parseJsonObject } from '../../../src/core/json/value.ts';
import type { Protocol } from '../../../src/protocols/registry.ts';
import { isRunning } from '../../../src/protocols/interactions/interaction.ts';
import { framesOf } from '../../protocols/codec-laws.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/gateway.ts';
import type { RawAnswer } from '../../support/raw-client.ts';
import type { SurfaceRow } from '../../conformance/surface.ts';

const FAMILIES = new URL('../../conformance/families/', import.meta.url);

/** Every family as the conformance suite knows it. */
export const FAMILY_ROWS: readonly SurfaceRow[] = await Promise.all(
  readdirSync(fileURLToPath(FAMILIES))
    .filter((name) => name !== 'shared.ts')
    .sort()
    .map(async (file) => {
      const { row } = (await import(new URL(file, FAMILIES).href)) as { row: SurfaceRow };
      return row;
    }),
);

/** The path tells forms from JSON where two rows have one name. */
export const titleOf = (row: SurfaceRow): string => row.path('m', false);

export function modesOf(row: SurfaceRow): readonly boolean[] {
  return row.stream ? [false, true] : [false];
}

interface Event {
  /** By its own type, or where that is damaged by its name. */
  type: string;
  value: {
    error?: unknown;
    candidates?: { finishReason?: string }[];
    promptFeedback?: { blockReason?: string };
    interaction?: { status?: string };
    status?: string;
  };
}

function eventsOf(text: string): Event[] {
  return framesOf(Buffer.from(text)).map(({ event = '', data = '' }) => {
    const value = parseJsonObject(data) ?? {};
    const type = [value['type'], value['event_type']].find((one) => typeof one === 'string');
    return { type: data === '[DONE]' ? data : (type ?? event), value };
  });
}

/** What says in the words of a protocol that a stream is over. */
const ENDS: Partial<Record<Protocol, (event: Event) => boolean>> = {
  chat: ({ type }) => type === '[DONE]',
  messages: ({ type }) => type === 'message_stop',
  responses: ({ type }) => /^response\.(?:completed|incomplete)$/.test(type),
  'generate-content': ({ value: { candidates, promptFeedback } }) =>
    candidates?.[0]?.finishReason !== undefined || promptFeedback?.blockReason !== undefined,
  // A status that says that nothing runs any more stands for an end that is damaged.
  interactions: ({ type, value: { interaction, status = interaction?.status } }) =>
    /^interaction\.completed?$/.test(type) || (status !== undefined && !isRunning(status)),
};

const FAILS: Partial<Record<Protocol, (event: Event) => boolean>> = {
  responses: ({ type }) => /^(?:response\.failed|error)$/.test(type),
  interactions: ({ type }) => type === 'error',
};

/** How a stream ended for its client; `neither` must not happen. */
export function endOf({ protocol }: SurfaceRow, text: string): 'whole' | 'error' | 'neither' {
  const events = eventsOf(text);
  const last = events.at(-1);
  const fails = FAILS[protocol] ?? (({ value }: Event) => isJsonObject(value.error));
  if (last && fails(last)) return 'error';
  return events.some((event) => ENDS[protocol]?.(event)) ? 'whole' : 'neither';
}

export type Outcome = 'answer' | 'refusal' | 'whole' | 'error';

/** Holds any answer to what every answer of a family is, and says which kind it is. */
export function expectFamilyAnswer(row: SurfaceRow, answer: RawAnswer): Outcome {
  const text = answer.body.toString('utf8');
  const { status, headers, complete } = answer;
  const shown = `${status} ${text.slice(0, 200)} … ${text.slice(-700)}`;
  expect(complete, `cut: ${shown}`).toBe(true);
  expect(headers['x-request-id'], shown).toMatch(/^req_/);
  expect(headers['request-id']).toBe(headers['x-request-id']);
  const type = String(headers['content-type']);
  if (status === 200 && type.includes('text/event-stream')) {
    const end = endOf(row, text);
    expect(end, shown).toMatch(/^(?:whole|error)$/);
    return end as Outcome;
  }
  expect(type, shown).toContain('application/json');
  const body = JSON.parse(text) as unknown;
  if (status === 200) return 'answer';
  expect(row.errorMessage(body), shown).toBeTypeOf('string');
  expect(text, 'nothing of our insides').not.toMatch(/TypeError|RangeError|node_modules|\.ts:\d/);
  return 'refusal';
}

/** The call of an answer has one record, which is final. */
export async function expectSettled(gateway: TestGateway, answer: RawAnswer): Promise<string> {
  const id = String(answer.headers['x-request-id']);
  return eventually(async () => {
    const { status, body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
    if (status === 404) return 'none';
    return body.result !== 'pending' && (body.result as string);
  });
}

/** Nothing went wrong inside, and no record was written twice; providers that fail are left out. */
export function expectCleanLog(gateway: TestGateway): void {
  const lines = gateway.log().split('\n');
  const faults = lines.filter((line) => / (?:error|warn) (?! ?provider left out)/.test(line));
  expect(faults).toEqual([]);
  const ids = lines.flatMap((line) => /info {2}request request_id=(\S+)/.exec(line)?.[1] ?? []);
  expect(new Set(ids).size).toBe(ids.length);
}
