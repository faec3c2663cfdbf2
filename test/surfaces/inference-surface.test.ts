import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { createIdSource } from '../../src/core/ids.ts';
import { createSpools } from '../../src/core/memory/spool.ts';
import type { InferenceSurface } from '../../src/protocols/surface.ts';
import type { HttpExchange } from '../../src/surfaces/http-exchange.ts';
import { createInferenceHandler } from '../../src/surfaces/inference-surface.ts';
import type { Principal } from '../../src/usage/principal.ts';
import { bodySource } from '../support/body-intake.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { chatBody, chunk } from '../support/chat.ts';
import { inferenceBench } from '../support/inference.ts';
import { SPOKEN } from '../protocols/spoken.ts';
import { BODY_VALUES } from '../support/value-bounds.ts';

const CHAT = SPOKEN.surfaces[0] as InferenceSurface;

const PRINCIPAL: Principal = {
  keyId: 'key_1',
  keyName: 'one',
  organizationId: 'org_1',
  organizationEnabled: true,
  scopes: null,
  keySpend: null,
  organizationSpend: null,
  rpmCap: null,
  concurrencyCap: 1,
  allowedModels: null,
};

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function setup(durable: Promise<void>) {
  const bench = inferenceBench({ durable });
  let inFlight = 0;
  const handle = createInferenceHandler(CHAT, {
    inference: bench.deps,
    catalog: () => fakeCatalog(fakeModel('acme/fast', [fakeRoute('a')])),
    maxBodyBytes: 10_000,
    bodyValues: BODY_VALUES,
    spools: createSpools('unused', createIdSource(bench.clock)),
    lookup: () => PRINCIPAL,
    rates: { isPlatformFull: () => false, admitPlatform: () => true, admitKey: () => true },
    concurrency: {
      enter() {
        inFlight++;
        return () => void inFlight--;
      },
    },
  });
  const request = Object.assign(
    Readable.from([Buffer.from(chatBody('acme/fast', { stream: true }))]),
    { headers: { authorization: 'Bearer sk-1', 'transfer-encoding': 'chunked' }, complete: true },
  ) as unknown as IncomingMessage;
  const response = Object.assign(new EventEmitter(), {
    destroyed: false,
    closed: false,
    writableFinished: false,
  });
  const exchange: HttpExchange = {
    id: 'req_1',
    at: 0,
    startedAt: 0,
    request,
    response: response as unknown as ServerResponse,
    intake: bodySource(request, response as unknown as ServerResponse).intake,
    path: CHAT.paths[0] ?? '',
    search: '',
  };
  const leave = (): void => {
    response.destroyed = true;
    response.closed = true;
    response.emit('close');
  };
  return { ...bench, handle: () => handle(exchange), leave, inFlight: () => inFlight };
}

it('gives the place of a stream back when its client left before the stream was handed over', async () => {
  let settle = (): void => undefined;
  const { handle, sent, leave, inFlight } = setup(
    new Promise<void>((resolve) => {
      settle = resolve;
    }),
  );
  const answer = handle();
  while (sent.length === 0) await nextTurn();
  sent[0]?.sink.onHead(200, { 'content-type': 'text/event-stream' });
  sent[0]?.sink.onData(Buffer.from(chunk({ content: 'hi' })));
  leave();
  await nextTurn();
  settle();
  await answer;
  expect(sent[0]?.aborted).toBe(true);
  expect(inFlight()).toBe(0);
});

it('keeps the place of a stream until the response is closed', async () => {
  const { handle, sent, leave, inFlight } = setup(Promise.resolve());
  const answer = handle();
  while (sent.length === 0) await nextTurn();
  sent[0]?.sink.onHead(200, { 'content-type': 'text/event-stream' });
  sent[0]?.sink.onData(Buffer.from(chunk({ content: 'hi' })));
  await answer;
  expect(inFlight()).toBe(1);
  leave();
  expect(inFlight()).toBe(0);
});
