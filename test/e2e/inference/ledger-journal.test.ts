import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { chunk } from '../../support/chat.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

/** A fold may come between the act and the look, so that only some of the calls can be judged. */
const TRIES = 8;
const ENOUGH = 3;
const PIECE_MS = 20;

interface Site {
  readonly gateway: TestGateway;
  readonly key: string;
  /** The journal as it was when the provider was asked, by call. */
  readonly seen: string[];
  /** Everything in the journal now. */
  journal(): string;
  close(): Promise<void>;
}

async function openSite(): Promise<Site> {
  const seen: string[] = [];
  let folder = '';
  // Nothing is there before the first call that it keeps.
  const journal = (): string =>
    (existsSync(folder) ? readdirSync(folder) : [])
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('');
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    await text(request);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'hi' }));
    await pause(PIECE_MS);
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  };
  const server = createServer((request, response) => {
    seen.push(journal());
    void answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const gateway = await startGateway({
    server: { store: { driver: 'lmdb' } },
    providers: [
      {
        name: 'up',
        type: 'custom',
        base_url: `http://127.0.0.1:${port}/v1`,
        auth: { type: 'none' },
        protocols: { chat: true },
      },
    ],
    models: [
      {
        name: 'acme/flat',
        routes: [{ provider: 'up', upstream_model: 'flat', pricing: { per_call: '0.01' } }],
      },
    ],
  });
  folder = join(gateway.directory, '.gateway', 'store', 'ledger');
  const close = async (): Promise<void> => {
    await gateway.stop();
    server.close();
    server.closeAllConnections();
  };
  const limited = { name: 'paid', spending_limit: { lifetime: 100 }, rpm_cap: 1_000 };
  const { body } = await gateway.admin('POST', '/admin/v1/keys', limited);
  const site = { gateway, key: body.value, seen, journal, close };
  // From the second call on the counters are known; the first brought them from the store.
  for (const key of [body.value, gateway.clientKey]) {
    await begin(site, key).catch(() => undefined);
    await pause(300);
  }
  seen.length = 0;
  return site;
}

/** A streamed call, up to the first piece of its answer. */
async function begin({ gateway }: Pick<Site, 'gateway'>, key: string) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'acme/flat',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    }),
  });
  const reader = response.body!.getReader();
  await reader.read();
  const rest = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  return { id: response.headers.get('x-request-id') ?? '', rest };
}

/** Frames that name the call. */
const framesOf = (journal: string, id: string): string[] =>
  journal.split(/^#/m).filter((frame) => frame.includes(id));

describe('the journal of the ledger', () => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site.close());

  it(
    verifies(
      'store.journal.before-upstream',
      'holds a call with a limit before its provider is asked, any other before its answer begins',
    ),
    async () => {
      let judged = 0;
      for (let attempt = 0; attempt < TRIES && judged < ENOUGH; attempt++) {
        const { id, rest } = await begin(site, site.key);
        const [frame] = framesOf(site.seen.at(-1) ?? '', id);
        if (frame !== undefined) {
          judged++;
          expect(frame).toContain(`["b","${id}"`);
          expect(frame).toContain('["c","client"');
        }
        await rest();
        await pause(220);
      }
      expect(judged).toBeGreaterThan(0);

      let others = 0;
      for (let attempt = 0; attempt < TRIES && others < ENOUGH; attempt++) {
        const { id, rest } = await begin(site, site.gateway.clientKey);
        const [frame] = framesOf(site.journal(), id);
        if (frame !== undefined) others++;
        else expect(await recordOf(site, id)).toMatchObject({ id });
        await rest();
      }
      expect(others).toBeGreaterThan(0);
    },
  );

  it(
    verifies(
      'store.journal.end-before-last-bytes',
      'holds the end of a call with a limit when its last bytes are there',
    ),
    async () => {
      let judged = 0;
      for (let attempt = 0; attempt < TRIES && judged < ENOUGH; attempt++) {
        const { id, rest } = await begin(site, site.key);
        await rest();
        const held = site.journal();
        if (held.includes(`["e","${id}"`)) judged++;
        // Folded meanwhile: then nothing of the call is left in it.
        else expect(held).not.toContain(id);
        expect(await recordOf(site, id)).toMatchObject({ result: 'ok', cost: '0.01' });
      }
      expect(judged).toBeGreaterThan(0);
    },
  );
});

async function recordOf({ gateway }: Site, id: string): Promise<unknown> {
  return (await gateway.admin('GET', `/admin/v1/requests/${id}`)).body;
}
