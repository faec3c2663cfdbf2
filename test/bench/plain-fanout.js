// The least that a Node server can do for followers: one text, written to every open stream.
import { createServer } from 'node:http';

const streams = new Set();
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.write(': connected\n\n');
    streams.add(response);
    response.on('close', () => streams.delete(response));
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const [event] = JSON.parse(Buffer.concat(chunks).toString()).events;
    const data = JSON.stringify({ ...event, id: 'sevt_1', processed_at: new Date().toISOString() });
    const frame = Buffer.from(`event: ${event.type}\nid: sevt_1\ndata: ${data}\n\n`);
    for (const stream of streams) stream.write(frame);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{}');
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
