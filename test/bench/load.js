// A closed-loop load generator on bare sockets: it must cost less than what it measures.
import { connect } from 'node:net';

/**
 * @param {{ url: string, path: string, method?: string, key?: string, body?: string, connections: number, ms?: number, requests?: number }} options
 * @returns {Promise<{ requests: number, failures: number, seconds: number, latencies: number[], firstBytes: number[] }>}
 */
export async function runLoad(options) {
  const { hostname, port } = new URL(options.url);
  const { method = 'POST', body = '' } = options;
  const payload = Buffer.from(
    `${method} ${options.path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      (options.key ? `authorization: Bearer ${options.key}\r\n` : '') +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const started = performance.now();
  const deadline = started + (options.ms ?? Infinity);
  const result = { requests: 0, failures: 0, seconds: 0, latencies: [], firstBytes: [] };
  let left = options.requests ?? Infinity;
  const worker = () =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname);
      socket.setNoDelay(true);
      let sentAt = 0;
      let firstAt = 0;
      let reader = createReader();
      const send = () => {
        if (left <= 0 || performance.now() >= deadline) {
          socket.destroy();
          return resolve();
        }
        left -= 1;
        reader = createReader();
        firstAt = 0;
        sentAt = performance.now();
        socket.write(payload);
      };
      socket.on('connect', send);
      socket.on('data', (data) => {
        firstAt ||= performance.now();
        if (!reader.push(data)) return;
        const now = performance.now();
        result.requests += 1;
        if (reader.status < 200 || reader.status > 299) result.failures += 1;
        result.latencies.push(now - sentAt);
        result.firstBytes.push(firstAt - sentAt);
        send();
      });
      socket.on('error', () => {
        result.failures += 1;
        resolve();
      });
      socket.on('close', resolve);
    });
  await Promise.all(Array.from({ length: options.connections }, worker));
  result.seconds = (performance.now() - started) / 1000;
  return result;
}

const END_OF_CHUNKS = Buffer.from('0\r\n\r\n');

/** Knows just enough HTTP to see where a response ends. */
export function createReader() {
  let head = '';
  let bodyStart = -1;
  let length = -1;
  let received = 0;
  let tail = Buffer.alloc(0);
  const reader = {
    status: 0,
    push(data) {
      let body = data;
      if (bodyStart < 0) {
        head += data.toString('latin1');
        bodyStart = head.indexOf('\r\n\r\n');
        if (bodyStart < 0) return false;
        reader.status = Number(head.slice(9, 12));
        const declared = /content-length: (\d+)/i.exec(head.slice(0, bodyStart));
        if (declared) length = Number(declared[1]);
        body = Buffer.from(head.slice(bodyStart + 4), 'latin1');
      }
      received += body.length;
      if (length >= 0) return received >= length;
      tail = body.length >= 5 ? body.subarray(-5) : Buffer.concat([tail, body]).subarray(-5);
      return tail.equals(END_OF_CHUNKS);
    },
  };
  return reader;
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
