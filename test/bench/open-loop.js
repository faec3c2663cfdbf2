// An open-loop probe on bare sockets: requests are sent by the clock, however long the answers take, and a
// latency counts from when its request was due. So a stall is seen by every request that it kept waiting.
import { connect } from 'node:net';
import { createReader } from './load.js';

/**
 * Sends until it is stopped. `stop` waits for the open answers and gives the latencies in milliseconds, in the
 * order of the answers; an answer other than 2xx and a lost connection are failures.
 *
 * @param {{ url: string, path: string, method?: string, key?: string, body?: string, perSecond: number }} options
 * @returns {{ stop(): Promise<{ requests: number, failures: number, latencies: number[] }> }}
 */
export function startOpenLoop(options) {
  const { hostname, port } = new URL(options.url);
  const payload = toPayload(options);
  const result = { requests: 0, failures: 0, latencies: [] };
  const idle = [];
  const sockets = new Set();
  const started = performance.now();
  let sent = 0;
  let open = 0;
  let stopped = false;
  let timer;
  let onDrained;

  const settle = (isFailure, due) => {
    open -= 1;
    result.requests += 1;
    if (isFailure) result.failures += 1;
    else result.latencies.push(performance.now() - due);
    if (stopped && open === 0) onDrained?.();
  };

  const openSocket = () => {
    const socket = connect(Number(port), hostname);
    const line = { socket, reader: undefined, due: 0, isUsed: false };
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('data', (data) => {
      line.isUsed = false;
      if (!line.reader?.push(data)) return;
      const { status } = line.reader;
      line.reader = undefined;
      line.isUsed = true;
      idle.push(line);
      settle(status < 200 || status > 299, line.due);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      const at = idle.indexOf(line);
      if (at >= 0) idle.splice(at, 1);
      if (!line.reader) return;
      line.reader = undefined;
      // A kept connection may end just as it is used again; every client sends such a request once more.
      if (line.isUsed) sendOn(openSocket(), line.due);
      else settle(true, line.due);
    });
    return line;
  };

  const sendOn = (line, due) => {
    line.reader = createReader();
    line.due = due;
    line.socket.write(payload);
  };

  const send = (due) => {
    open += 1;
    sendOn(idle.pop() ?? openSocket(), due);
  };

  const tick = () => {
    if (stopped) return;
    const dueAt = (index) => started + (index * 1000) / options.perSecond;
    for (; dueAt(sent) <= performance.now(); sent += 1) send(dueAt(sent));
    timer = setTimeout(tick, Math.max(0, dueAt(sent) - performance.now()));
  };
  tick();

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      if (open > 0) await new Promise((resolve) => (onDrained = resolve));
      for (const socket of sockets) socket.destroy();
      return result;
    },
  };
}

function toPayload({ url, path, method = 'POST', key, body = '' }) {
  const { host } = new URL(url);
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
      (key ? `authorization: Bearer ${key}\r\n` : '') +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
