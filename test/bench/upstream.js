// The provider of the benchmark: canned answers at the least possible cost.
import { createServer } from 'node:http';

const answer = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1,
    model: 'bench',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'x'.repeat(700), refusal: null },
        finish_reason: 'stop',
        logprobs: null,
      },
    ],
    usage: { prompt_tokens: 200, completion_tokens: 180, total_tokens: 380 },
  }),
);

const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'bench',
    choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
  })}\n\n`;
const chunks = [
  chunk({ role: 'assistant', content: '' }),
  ...Array.from({ length: 98 }, (_, i) => chunk({ content: ` token${i}` })),
  chunk({}, 'stop'),
];
const usage = `data: ${JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'bench',
  choices: [],
  usage: { prompt_tokens: 20, completion_tokens: 98, total_tokens: 118 },
})}\n\n`;

/** Latency of an answer to a prompt that begins with `slowly`. */
const SLOW_MS = 200;

function answerWhole(response) {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
  response.end(answer);
}

const server = createServer((request, response) => {
  const body = [];
  request.on('data', (part) => body.push(part));
  request.on('end', () => {
    const text = Buffer.concat(body);
    if (!text.includes('"stream":true')) {
      if (text.includes('"slowly ')) setTimeout(() => answerWhole(response), SLOW_MS);
      else answerWhole(response);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const wantsUsage = text.includes('"include_usage":true');
    let next = 0;
    const step = () => {
      if (response.destroyed) return;
      if (next < chunks.length) {
        response.write(chunks[next++]);
        setImmediate(step);
      } else {
        response.end(`${wantsUsage ? usage : ''}data: [DONE]\n\n`);
      }
    };
    step();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
