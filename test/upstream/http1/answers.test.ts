import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { request } from 'undici';
import { createHttp1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import { UpstreamError } from '../../../src/upstream/transport.ts';
import type { Transport } from '../../../src/upstream/transport.ts';
import { exchange, Upstreams } from '../exchange-log.ts';
import type { ExchangeLog } from '../exchange-log.ts';
import { cutAt, cutEvery } from '../../core/sse/cuts.ts';
import { runsOf } from '../../runs.ts';
import { answers, mutations } from './answers.ts';
import { parse } from './parse.ts';
import type { Parsed } from './parse.ts';

let upstreams: Upstreams;
let transport: Transport;
let url: string;
/** What the server says to every request, and whether it closes the connection then. */
let say: { bytes: Buffer; close: boolean };

beforeEach(async () => {
  upstreams = new Upstreams();
  transport = createHttp1Transport();
  const { url: address } = await upstreams.raw((socket) => {
    if (say.close) socket.end(say.bytes);
    else socket.write(say.bytes);
  });
  url = address;
});

afterEach(async () => {
  await transport.close();
  await upstreams.closeAll();
});

async function ask(method: 'GET' | 'HEAD' = 'GET'): Promise<ExchangeLog> {
  const log = exchange(transport, url, { method, body: undefined });
  await log.finished;
  return log;
}

/** What an answer means, without how far into it a fault was found. */
function meaning({ outcome, head, body, left }: Parsed): unknown {
  return [
    outcome,
    head?.status,
    head && { ...head.headers },
    body,
    outcome !== 'error' && left > 0,
  ];
}

describe('a valid answer', () => {
  it('is read the same wherever it is cut', () => {
    fc.assert(
      fc.property(answers, ({ bytes, method, ...expected }) => {
        const ways = Array.from({ length: bytes.length }, (_, at) => cutAt(bytes, [at]));
        const readings = [...ways, cutEvery(bytes, 1)].map((pieces) => {
          const { head, outcome, body, left } = parse(pieces, { method });
          const { status, headers } = head ?? {};
          return JSON.stringify({ outcome, status, headers, body, left });
        });
        const { status, headers, body } = expected;
        const { [0]: reading = '', length } = [...new Set(readings)];
        expect(JSON.parse(reading)).toEqual({
          outcome: 'complete',
          status,
          headers,
          body,
          left: 0,
        });
        expect(length).toBe(1);
      }),
      { numRuns: runsOf(20, 60) },
    );
  });

  it('is read as undici reads it', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const { method, untilClose } = answer;
        say = { bytes: answer.bytes, close: untilClose };
        const theirs = await request(url, { method, reset: true });
        const body = Buffer.from(await theirs.body.arrayBuffer()).toString('latin1');
        const log = await ask(method);
        expect(log.error).toBeUndefined();
        expect(log.status).toBe(theirs.statusCode);
        expect({ ...log.headers }).toEqual({ ...theirs.headers });
        expect(Buffer.concat(log.chunks).toString('latin1')).toBe(body);
      }),
      { numRuns: runsOf(40, 150) },
    );
  });
});

describe('a spoiled answer', () => {
  const spoiled = fc
    .tuple(answers, fc.array(mutations, { minLength: 1, maxLength: 3 }))
    .map(([answer, changes]) => ({
      method: answer.method,
      bytes: changes.reduce((bytes, change) => change(bytes), answer.bytes),
    }));

  it('means the same however it is cut, and never more than was sent', () => {
    fc.assert(
      fc.property(
        spoiled,
        fc.array(fc.nat(400), { maxLength: 12 }),
        ({ bytes, method }, offsets) => {
          const whole = parse([bytes], { method });
          const places = offsets.map((at) => at % (bytes.length + 1));
          const ways = [cutAt(bytes, places), cutEvery(bytes, 1)];
          const readings = ways.map((pieces) => meaning(parse(pieces, { method })));
          expect(readings).toEqual(ways.map(() => meaning(whole)));
          expect(whole.body.length).toBeLessThanOrEqual(bytes.length);
        },
      ),
      { numRuns: runsOf(500, 2000) },
    );
  });

  it('ends the exchange, and the next one is answered', async () => {
    await fc.assert(
      fc.asyncProperty(spoiled, async ({ bytes, method }) => {
        say = { bytes, close: true };
        const log = await ask(method);
        if (log.error) {
          expect(log.error).toBeInstanceOf(UpstreamError);
          expect(['protocol', 'reset']).toContain(log.error.kind);
        }
        say = {
          bytes: Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
          close: false,
        };
        const next = await ask();
        expect(next.text()).toBe('ok');
      }),
      { numRuns: runsOf(60, 200) },
    );
  });

  it('of nothing but noise is refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 8, maxLength: 300 }), (noise) => {
        expect(parse([Buffer.from(noise)]).outcome).toBe('error');
      }),
    );
  });
});
