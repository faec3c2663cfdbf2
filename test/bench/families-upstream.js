// The provider of the families' benchmark: canned answers of several protocols, streams event by event.
import { createServer } from 'node:http';

const EVENTS = 100;
const named = (type, rest) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const message = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench' };
const MESSAGES = [
  named('message_start', {
    message: {
      ...message,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 20, output_tokens: 1 },
    },
  }),
  named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ...Array.from({ length: EVENTS - 5 }, (_, i) =>
    named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: ` token${i}` } }),
  ),
  named('content_block_stop', { index: 0 }),
  named('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 98 },
  }),
  named('message_stop', {}),
];

const head = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench' };
const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const CHAT = [
  chunk({ role: 'assistant', content: '' }),
  ...Array.from({ length: EVENTS - 4 }, (_, i) => chunk({ content: ` token${i}` })),
  chunk({}, 'stop'),
  `data: ${JSON.stringify({ ...head, choices: [], usage: { prompt_tokens: 20, completion_tokens: 98, total_tokens: 118 } })}\n\n`,
  'data: [DONE]\n\n',
];

const VECTORS = JSON.stringify({
  object: 'list',
  model: 'bench',
  data: Array.from({ length: 8 }, (_, index) => ({
    object: 'embedding',
    index,
    embedding: Array.from({ length: 1536 }, (__, i) => Math.sin(index + i)),
  })),
  usage: { prompt_tokens: 64, total_tokens: 64 },
});
const PICTURE = JSON.stringify({
  created: 1,
  data: [{ b64_json: 'A'.repeat(10 * 1024 * 1024) }],
  usage: { input_tokens: 10, output_tokens: 4000, total_tokens: 4010 },
});

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    if (request.url.endsWith('/embeddings')) return whole(response, VECTORS);
    if (request.url.endsWith('/generations')) return whole(response, PICTURE);
    stream(response, request.url.endsWith('/messages') ? MESSAGES : CHAT);
  });
});

function whole(response, body) {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

function stream(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let next = 0;
  const step = () => {
    if (response.destroyed) return;
    if (next === events.length) response.end();
    else {
      response.write(events[next++]);
      setImmediate(step);
    }
  };
  step();
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
