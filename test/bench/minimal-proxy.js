// What a Node proxy costs at the least: node:http in front, undici behind, the body parsed and rewritten.
import { createServer } from 'node:http';
import { Pool } from 'undici';

const pool = new Pool(process.argv[2], { connections: 256, pipelining: 1 });

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(parts).toString());
    body.model = 'bench';
    pool.dispatch(
      {
        path: request.url,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer upstream' },
        body: JSON.stringify(body),
      },
      {
        onRequestStart() {},
        onResponseStart(_controller, status, headers) {
          response.writeHead(status, { 'content-type': headers['content-type'] });
        },
        onResponseData(_controller, data) {
          response.write(data);
        },
        onResponseEnd() {
          response.end();
        },
        onResponseError() {
          response.destroy();
        },
      },
    );
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
