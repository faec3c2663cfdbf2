import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { answersIn } from '../support/raw-socket.ts';
import type { WireAnswer } from '../support/raw-socket.ts';
import { verifies } from '../requirements.ts';

const TIMEOUT_MS = 1_500;
const FORM = 'multipart/form-data; boundary=b0undary';
const PART = '--b0undary\r\ncontent-disposition: form-data; name="a"\r\n\r\n';
/** Of a length, in JSON; in chunks, in YAML; in a form. */
const FRAMINGS = [
  ['content-length: 100000\r\ncontent-type: application/json\r\n', '{'],
  ['transfer-encoding: chunked\r\ncontent-type: application/yaml\r\n', ''],
  [`content-length: 100000\r\ncontent-type: ${FORM}\r\n`, PART],
] as const;
const METHODS = ['post', 'put', 'patch'];

let gateway: TestGateway;
/** Every operation that takes a body, its parameters filled in. */
let operations: string[] = [];

beforeAll(async () => {
  gateway = await startGateway({
    server: { limits: { request_timeout: `${TIMEOUT_MS}ms` } },
    providers: [{ name: 'mock', type: 'mock' }],
    models: [{ name: 'm', routes: [{ provider: 'mock' }] }],
    apis: [{ name: 'shop', base_url: 'http://127.0.0.1:9', auth: { type: 'none' } }],
  });
  const { body: document } = await gateway.call('GET', '/openapi.json');
  const paths = Object.entries(document.paths as Record<string, object>);
  operations = paths.flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => {
      const target = path.replace('{vendor}', 'shop').replaceAll(/\{[^}]+\}/g, 'm');
      return `${method.toUpperCase()} ${target}`;
    }),
  );
});
afterAll(() => gateway.stop());

interface Slow {
  answers(): WireAnswer[];
  closed: Promise<unknown>;
}

/** Sends a head, and of the body a byte now and then. */
async function trickle(line: string, head: string, first = ''): Promise<Slow> {
  const drop = head.includes('chunked') ? '1\r\n \r\n' : ' ';
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  let said = '';
  socket.on('error', () => undefined);
  socket.setEncoding('latin1').on('data', (text: string) => (said += text));
  await once(socket, 'connect');
  const closed = new Promise((resolve) => void socket.once('close', resolve));
  socket.write(`${line} HTTP/1.1\r\nhost: localhost\r\n${head}\r\n${first}`);
  const drip = setInterval(() => socket.write(drop), 100);
  socket.on('close', () => clearInterval(drip));
  return { answers: () => answersIn(said), closed };
}

describe('a body that never ends', () => {
  it(
    verifies('ops.slow-client', 'is given up by every operation, and holds up nobody'),
    async () => {
      expect(operations.length).toBeGreaterThan(40);
      const calls = FRAMINGS.flatMap(([framing, first]) =>
        operations.map((operation) => ({ operation, framing, first })),
      );
      const slow = await Promise.all(
        calls.map(({ operation, framing, first }) => {
          const key = operation.includes('/admin/') ? gateway.adminKey : gateway.clientKey;
          return trickle(operation, `authorization: Bearer ${key}\r\n${framing}`, first);
        }),
      );
      expect((await gateway.chat('m')).status).toBe(200);
      await Promise.all(slow.map(({ closed }) => closed));
      const late = new Map<string, number>();
      for (const [index, { answers }] of slow.entries()) {
        const { operation, framing } = calls[index]!;
        const what = `${operation} ${framing}`;
        const statuses = answers().map(({ status }) => status);
        expect(statuses.length, what).toBeLessThanOrEqual(1);
        // One that needs no body to refuse the request does so at once, as the API that is not there.
        for (const status of statuses) {
          expect(status, what).toBeGreaterThanOrEqual(400);
          if (status !== 502) expect(status, what).toBeLessThan(500);
        }
        if (statuses[0] === 408) late.set(framing, (late.get(framing) ?? 0) + 1);
      }
      for (const [framing] of FRAMINGS) expect(late.get(framing), framing).toBeGreaterThan(5);
      expect((await gateway.chat('m')).status).toBe(200);
    },
  );
});

describe('a connection that is kept', () => {
  it('is not held by what could be a request some day', async () => {
    const slow = await Promise.all([
      trickle('GET /v1/models', ''),
      trickle('', ''),
      trickle('GET', 'x: y'),
    ]);
    await Promise.all(slow.map(({ closed }) => closed));
    expect((await gateway.chat('m')).status).toBe(200);
  });
});
