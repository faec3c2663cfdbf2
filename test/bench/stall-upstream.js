// The provider of the stall benchmark: answers that are large, or made of tiny pieces, by the name of
// the model that is asked for.
import { createServer } from 'node:http';

const MIB = 1024 * 1024;
const EMPTY = {};
const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
const chat = (content, more = {}) =>
  JSON.stringify({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage,
    ...more,
  });
const response = (text, more = {}) =>
  JSON.stringify({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: [
      {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [], ...more }],
      },
    ],
    usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
  });
const answers = {
  small: (write) => write('hello'),
  integers: (write) => write('hello', { x: Array.from({ length: 15 * MIB }, () => 1) }),
  objects: (write) => write('hello', { x: Array.from({ length: 10 * MIB }, () => EMPTY) }),
  values: (write) => write('hello', { x: Array.from({ length: 1_900_000 }, () => ({})) }),
  logprobs: (write) => write('hello', { logprobs: Array.from({ length: 16_000 }, toLogprob) }),
  text: (write) => write('x'.repeat(30 * MIB)),
};

function toLogprob(_, index) {
  const one = (token) => ({ token, logprob: -0.25, bytes: [104, 105] });
  return { ...one(`t${index}`), top_logprobs: Array.from({ length: 20 }, () => one('t')) };
}

/** Made before anybody asks, since to make one keeps everybody waiting. */
const bodies = new Map();
const writers = { '/v1/chat/completions': chat, '/v1/responses': response };
for (const [path, write] of Object.entries(writers)) {
  for (const [name, make] of Object.entries(answers))
    bodies.set(`${path} ${name}`, Buffer.from(make(write)));
}

const server = createServer((request, response) => {
  let head = '';
  request.on('data', (part) => {
    if (head.length < 1000) head += part.toString('latin1', 0, 1000);
  });
  request.on('end', () => {
    const model = /"model":\s*"([^"]*)"/.exec(head)?.[1] ?? '';
    const bodyOf = (name) => bodies.get(`${request.url} ${name}`);
    if (model === 'bytes') return inBytes(response, bodyOf('text').toString());
    const body = bodyOf(model) ?? bodyOf('small');
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});

/** Every byte a chunk of its own, written as fast as it is taken. */
function inBytes(response, body) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  const socket = response.socket;
  let at = 0;
  const write = () => {
    while (at < body.length) {
      const part = body.slice(at, (at += 8192));
      if (!socket.write(part.replace(/./gs, '1\r\n$&\r\n'))) {
        socket.once('drain', write);
        return;
      }
    }
    socket.end('0\r\n\r\n');
  };
  write();
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
