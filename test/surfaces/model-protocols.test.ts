import { expect, it } from 'vitest';
import { routeCapabilities, servedProtocols } from '../../src/surfaces/model-protocols.ts';
import { fakeModel, fakeRoute } from '../support/catalog.ts';
import { SPOKEN } from '../protocols/spoken.ts';

const { chat, messages, 'generate-content': generateContent } = SPOKEN.wires;
const CLIENTS = [chat, messages, generateContent];

it('a model tells in which protocols it can be called, and what is lost in each', () => {
  const model = fakeModel('acme/fast', [
    fakeRoute('a', { protocols: new Set(['messages', 'embeddings']) }),
    fakeRoute('b', { protocols: new Set(['chat']) }),
  ]);
  const served = servedProtocols(model, CLIENTS);
  expect(served.messages?.[0]).toEqual({
    provider_protocol: 'messages',
    translated: false,
    loses: [],
  });
  expect(served.messages?.[1]).toMatchObject({ provider_protocol: 'chat', translated: true });
  expect(served.messages?.[1]?.loses).toContain('top_k');
  expect(served.chat?.map((way) => way.provider_protocol)).toEqual(['messages', 'chat']);
  expect(served.chat?.[0]?.loses).toContain('seed');
});

it('generate-content is served where the route says so', () => {
  const protocols = new Set(['chat'] as const);
  const native = fakeModel('acme/a', [fakeRoute('a', { protocols })]);
  const translated = fakeModel('acme/b', [fakeRoute('b', { protocols, mapping: 'translated' })]);
  expect(Object.keys(servedProtocols(native, CLIENTS))).not.toContain('generate-content');
  expect(Object.keys(servedProtocols(translated, CLIENTS))).toContain('generate-content');
});

it('a model tells what the upstream model of each route takes, in the words of its route', () => {
  const model = fakeModel('acme/fast', [
    fakeRoute('a', {
      protocols: new Set(['messages', 'chat', 'embeddings']),
      upstreamModel: 'claude-opus-4-8',
      capabilities: { tool_id_length: 20 },
    }),
    fakeRoute('b', { protocols: new Set(['images']) }),
  ]);
  const [first, second] = routeCapabilities(model, CLIENTS);
  expect(first?.capabilities.messages).toMatchObject({ thinking: 'adaptive', tool_id_length: 20 });
  expect(Object.keys(first?.capabilities ?? {})).toEqual(['chat', 'messages']);
  expect(second).toEqual({ capabilities: {} });
});
