import { Buffer } from 'node:buffer';
import { expect, it, vi } from 'vitest';
import { scanInSlices } from '../../../src/core/json/json-document.ts';
import { JsonScanner } from '../../../src/core/json/scanner.ts';
import { REQUEST_MARKS } from '../../../src/protocols/scan-request.ts';
import type { Model } from '../../../src/routing/catalog.ts';
import { readApiInput, toApiResult } from '../../../src/tasks/runs/call-api.ts';
import { readRunRequest } from '../../../src/tasks/runs/read-run-request.ts';
import { toModelCall } from '../../../src/tasks/runs/run-call.ts';
import { SPOKEN } from '../../protocols/spoken.ts';
import { verifies } from '../../requirements.ts';
import { BODY_VALUES } from '../../support/value-bounds.ts';

const MODEL = { id: 'm', type: 'llm', routes: [] } as unknown as Model;
/** Bytes that may be scanned, or made into values, without a break. */
const MOST_AT_ONCE = 256 * 1024;

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]';
const inputOf = (numbers: number) => `{${MESSAGES},"x":[${'1,'.repeat(numbers)}1]}`;
const read = async (input: string) => {
  const body = Buffer.from(`{"model":"m","input":${input}}`);
  return readRunRequest(await scanInSlices(body, { values: BODY_VALUES, marks: REQUEST_MARKS }));
};

/** The most bytes that were scanned or parsed in one turn of the event loop while the work was done. */
async function mostAtOnce(work: () => Promise<unknown>): Promise<number> {
  let [most, now] = [0, 0];
  let isOver = false;
  const count = (bytes: number): void => void (most = Math.max(most, (now += bytes)));
  const turn = (): void => {
    now = 0;
    if (!isOver) setImmediate(turn);
  };
  const { step } = JsonScanner.prototype;
  const { parse } = JSON;
  const scans = vi.spyOn(JsonScanner.prototype, 'step').mockImplementation(function (
    this: JsonScanner,
    ...bytes
  ) {
    const before = this.scanned;
    const isDone = step.apply(this, bytes);
    count(Math.min(this.scanned - before, bytes[0] ?? Infinity));
    return isDone;
  });
  const parses = vi.spyOn(JSON, 'parse').mockImplementation((text, ...more) => {
    count(text.length);
    return parse(text, ...more) as unknown;
  });
  setImmediate(turn);
  try {
    await work();
    return most;
  } finally {
    isOver = true;
    scans.mockRestore();
    parses.mockRestore();
  }
}

it(
  verifies('bodies.in-turns', 'refuses the input of a run before it makes too many values'),
  async () => {
    const most = await mostAtOnce(async () => {
      await expect(read(inputOf(BODY_VALUES.numbers + 1))).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('server.limits.body_values'),
      });
    });
    expect(most).toBeLessThan(4 * MOST_AT_ONCE);
  },
);

it(
  verifies('bodies.in-turns', 'reads and checks the input of a run in turns of the event loop'),
  async () => {
    const input = inputOf(1_000_000);
    const most = await mostAtOnce(async () => {
      const request = await read(input);
      expect(request.bytes.toString()).toBe(input);
      const { body } = await toModelCall(MODEL, request.bytes, SPOKEN.surfaces);
      expect(body.body.toString()).toBe(`${input.slice(0, -1)},"model":"m"}`);
    });
    expect(most).toBeLessThan(4 * MOST_AT_ONCE);
  },
);

it(
  verifies('bodies.in-turns', 'reads calls and answers of an API in turns of the event loop'),
  async () => {
    const body = Buffer.from(inputOf(1_000_000));
    const most = await mostAtOnce(async () => {
      const asked = await readApiInput(Buffer.from(`{"body":${body.toString()}}`));
      expect(asked.body?.equals(body)).toBe(true);
      const headers = { 'content-type': 'application/json' };
      const { output } = await toApiResult({ status: 200, headers, body });
      expect(output?.includes(body)).toBe(true);
    });
    expect(most).toBeLessThan(4 * MOST_AT_ONCE);
  },
);
