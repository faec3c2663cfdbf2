import { expectEqual, expectStatus, expectThat, type Check } from './check.ts';
import { Skip, type Probe, type Reply } from './probe.ts';

const CHAT = '/v1/chat/completions';
const MESSAGES = [{ role: 'user', content: 'Say hello.' }];
const MAX = 32;

/** The catalog, and calls of a model. */
export const MODEL_CHECKS: readonly Check[] = [
  {
    id: 'catalog.list.envelope',
    title: 'lists models in one page',
    async run({ send }) {
      const reply = await send('GET', '/v1/models');
      expectStatus('/v1/models', reply, 200);
      const { object, data, has_more } = reply.body;
      expectEqual('the envelope', [object, Array.isArray(data), has_more], ['list', true, false]);
    },
  },
  {
    id: 'catalog.list.items',
    title: 'lists four members of each model',
    async run({ send }) {
      const reply = await send('GET', '/v1/models?type=');
      expectStatus('/v1/models', reply, 200);
      for (const item of reply.body.data) {
        const members = Object.keys(item).sort();
        expectEqual(`the members of ${item.id}`, members, ['created', 'id', 'object', 'owned_by']);
      }
    },
  },
  {
    id: 'catalog.list.order',
    title: 'lists in the order that is asked for, and in no other',
    async run({ send }) {
      const namesIn = async (order: string) => {
        const reply = await send('GET', `/v1/models?type=&order=${order}`);
        expectStatus(order, reply, 200);
        return reply.body.data.map(({ id }: { id: string }) => id) as string[];
      };
      expectEqual('desc', await namesIn('desc'), (await namesIn('asc')).toReversed());
      expectStatus('another order', await send('GET', '/v1/models?order=sideways'), 400);
    },
  },
  {
    id: 'versioning.model-ids-discoverable',
    title: 'finds the model among those of every type',
    async run(probe) {
      const model = await probe.model();
      const reply = await probe.send('GET', '/v1/models?type=');
      expectStatus('/v1/models', reply, 200);
      const found = reply.body.data.some(({ id }: { id: unknown }) => id === model);
      expectThat(found, `${model} is not listed`);
    },
  },
  {
    id: 'catalog.get.slashes',
    title: 'gets one model, its name encoded or not',
    async run(probe) {
      const model = await probe.model();
      for (const path of [model, encodeURIComponent(model)]) {
        const reply = await probe.send('GET', `/v1/models/${path}`);
        expectStatus(path, reply, 200);
        expectEqual('id', reply.body?.id, model);
      }
    },
  },
  {
    id: 'chat.request.validation',
    title: 'refuses a chat request without model or with a wrong member',
    async run(probe) {
      const model = await probe.model();
      for (const body of [
        { messages: MESSAGES },
        { model: 7, messages: MESSAGES },
        { model, messages: MESSAGES, stream: 'yes' },
      ])
        expectStatus(JSON.stringify(body), await probe.send('POST', CHAT, { body }), 400);
    },
  },
  {
    id: 'chat.status.404-model',
    title: 'knows no model that is not in the catalog',
    async run({ send }) {
      const body = { model: 'selftest/none', messages: MESSAGES };
      const reply = await send('POST', CHAT, { body });
      expectStatus('an unknown model', reply, 404);
      expectEqual('error.code', reply.body?.error?.code, 'model_not_found');
    },
  },
  {
    id: 'chat.response.json',
    title: 'answers a chat request',
    async run(probe) {
      const reply = await ask(probe, CHAT, { messages: MESSAGES, max_tokens: MAX });
      expectEqual('object', reply.body?.object, 'chat.completion');
      expectEqual('role', reply.body?.choices?.[0]?.message?.role, 'assistant');
    },
  },
  {
    id: 'chat.stream.ends-with-done',
    title: 'streams chunks up to one [DONE]',
    async run(probe) {
      const lines = dataLines(await ask(probe, CHAT, { messages: MESSAGES, stream: true }));
      expectEqual('the last line', lines.at(-1), '[DONE]');
      expectEqual('how many [DONE]', lines.filter((line) => line === '[DONE]').length, 1);
      const objects = new Set(chunks(lines).map(({ object }) => object));
      expectEqual('object', [...objects], ['chat.completion.chunk']);
    },
  },
  {
    id: 'chat.stream.chunk-shape',
    title: 'gives the chunks of a stream one id, a role and a finish_reason',
    async run(probe) {
      const all = chunks(dataLines(await ask(probe, CHAT, { messages: MESSAGES, stream: true })));
      expectEqual('how many ids', new Set(all.map(({ id }) => id)).size, 1);
      expectEqual('the first role', all[0]?.choices?.[0]?.delta?.role, 'assistant');
      const ends = all.filter(({ choices }) => typeof choices?.[0]?.finish_reason === 'string');
      expectEqual('how many finish_reason', ends.length, 1);
    },
  },
  {
    id: 'chat.stream.include-usage',
    title: 'sends the use of a stream only when it is asked for',
    async run(probe) {
      const usageOf = async (more: object) => {
        const reply = await ask(probe, CHAT, { messages: MESSAGES, stream: true, ...more });
        return chunks(dataLines(reply)).filter(({ choices }) => choices?.length === 0).length;
      };
      expectEqual('chunks of usage', await usageOf({}), 0);
      const more = { stream_options: { include_usage: true } };
      expectEqual('chunks of usage that were asked for', await usageOf(more), 1);
    },
  },
  {
    id: 'responses.request.validation',
    title: 'refuses a Responses request without model or with a wrong stream',
    async run(probe) {
      const model = await probe.model();
      for (const body of [{ input: 'hello' }, { model, input: 'hello', stream: 1 }])
        expectStatus(
          JSON.stringify(body),
          await probe.send('POST', '/v1/responses', { body }),
          400,
        );
    },
  },
  {
    id: 'routing.response-model-logical',
    title: 'names the model of a Response as it was asked for',
    async run(probe) {
      const reply = await ask(probe, '/v1/responses', { input: 'Say hello.' });
      expectEqual('object', reply.body?.object, 'response');
      expectEqual('model', reply.body?.model, await probe.model());
    },
  },
  {
    id: 'embeddings.request.validation',
    title: 'embeds with no model that does not embed',
    async run(probe) {
      const path = '/v1/embeddings';
      const model = await probe.model();
      for (const body of [{ input: 'hello' }, { model, input: 'hello' }])
        expectStatus(JSON.stringify(body), await probe.send('POST', path, { body }), 400);
    },
  },
  {
    id: 'images.model.public-set',
    title: 'draws with no model that does not draw',
    async run(probe) {
      const body = { model: await probe.model(), prompt: 'a house' };
      expectStatus(
        'a language model',
        await probe.send('POST', '/v1/images/generations', { body }),
        400,
      );
    },
  },
  {
    id: 'images.edits.multipart',
    title: 'takes forms alone for edits of images',
    async run({ send }) {
      expectStatus('JSON', await send('POST', '/v1/images/edits', { body: {} }), 400);
    },
  },
  {
    id: 'messages.request.required',
    title: 'refuses a Messages request that lacks something',
    async run(probe) {
      const model = await probe.model();
      for (const body of [
        { max_tokens: MAX, messages: MESSAGES },
        { model, messages: MESSAGES },
        { model, max_tokens: 0, messages: MESSAGES },
        { model, max_tokens: MAX },
      ])
        expectStatus(JSON.stringify(body), await probe.send('POST', '/v1/messages', { body }), 400);
    },
  },
  {
    id: 'messages.request.sampling-ranges',
    title: 'refuses what is out of range in a Messages request',
    async run(probe) {
      const model = await probe.model();
      for (const wrong of [{ temperature: 1.5 }, { top_p: -0.1 }, { top_k: 1.5 }]) {
        const body = { model, max_tokens: MAX, messages: MESSAGES, ...wrong };
        expectStatus(
          JSON.stringify(wrong),
          await probe.send('POST', '/v1/messages', { body }),
          400,
        );
      }
    },
  },
  {
    id: 'messages.stream.event-names',
    title: 'names every event of a Messages stream',
    async run(probe) {
      const body = { max_tokens: MAX, messages: MESSAGES, stream: true };
      const { text } = await ask(probe, '/v1/messages', body);
      const frames = text.split(/\r?\n\r?\n/).filter((frame) => /^data:/m.test(frame));
      expectThat(frames.length > 0, 'there is no event');
      for (const frame of frames) {
        const name = /^event: ?(.*)$/m.exec(frame)?.[1];
        const type = /"type" ?: ?"([^"]*)"/.exec(frame)?.[1];
        expectEqual('event', name, type);
      }
    },
  },
  {
    id: 'interactions.not-exposed',
    title: 'lists and deletes no Interactions',
    async run({ send }) {
      const path = '/v1beta/interactions';
      expectStatus(`GET ${path}`, await send('GET', path), 404, 405);
      expectStatus('DELETE of one', await send('DELETE', `${path}/none`), 404, 405);
    },
  },
  {
    id: 'interactions.create.background-with-stream',
    title: 'streams no Interaction in the background',
    async run(probe) {
      const body = {
        model: await probe.model(),
        input: 'hello',
        background: true,
        stream: true,
      };
      const reply = await probe.send('POST', '/v1beta/interactions', { body });
      expectStatus('both', reply, 400);
      expectEqual('error.status', reply.body?.error?.status, 'INVALID_ARGUMENT');
    },
  },
];

/** Asks the model; one that is out of reach says nothing about the gateway. */
async function ask(probe: Probe, path: string, body: object): Promise<Reply> {
  const model = await probe.model();
  const reply = await probe.send('POST', path, { body: { model, ...body } });
  if ([402, 429, 503, 504].includes(reply.status))
    throw new Skip(`${model} does not answer now (${reply.status})`);
  expectStatus(`${path} with ${model}`, reply, 200);
  return reply;
}

function dataLines({ text }: Reply): string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice('data:'.length).trim());
}

// oxlint-disable-next-line typescript/no-explicit-any -- chunks are judged by the checks
function chunks(lines: readonly string[]): any[] {
  return lines.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line) as unknown);
}
