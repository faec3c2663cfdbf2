import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { buffer } from 'node:stream/consumers';

export interface LossyStage {
  readonly url: string;
  /** Streams that were broken off. */
  lost(): number;
  close(): Promise<void>;
}

const LOSSY = 'test_reconnection';

/** The arguments of `send_message` that stand in for a call of a tool of the suite, by its name. */
const CALLS: Readonly<Record<string, (args: { seconds?: number }) => object>> = {
  [LOSSY]: () => ({ input: 'welcome?', wait: true }),
  greet: () => ({ input: 'welcome?' }),
  slow_compute: ({ seconds = 0 }) => ({
    input: seconds < 2 ? 'welcome?' : seconds < 60 ? 'briefly' : 'slowly',
    wait: true,
  }),
  failing_job: () => ({ input: 'briefly', wait: true }),
  test_input_required_result_elicitation: () => ({ input: 'ask', wait: true }),
  test_input_required_result_tampered_state: () => ({ input: 'ask', wait: true }),
};

/**
 * A way to the Services of `target` on which tools of the public suite are calls of a Service. The connection
 * of the tool `test_reconnection` is lost after its first event. All else passes unchanged.
 */
export async function startLossyStage(target: string): Promise<LossyStage> {
  const { hostname, port } = new URL(target);
  let lost = 0;
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method, url: path, headers } = incoming;
    const body = await buffer(incoming);
    const called = CALLED.exec(body.toString())?.[1] ?? '';
    const sent = called in CALLS ? toCall(body) : body;
    const isLossy = called === LOSSY;
    if (called in CALLS && headers['mcp-name'] === called) headers['mcp-name'] = SERVED;
    const { 'content-length': _length, 'transfer-encoding': _coding, ...rest } = headers;
    const length = sent.length > 0 ? { 'content-length': sent.length } : {};
    const options = { hostname, port, method, path, headers: { ...rest, ...length } };
    const onward = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      if (!isLossy) {
        pipeline(answer, outgoing, () => undefined);
        return;
      }
      answer.setEncoding('utf8');
      let told = '';
      answer.on('data', (text: string) => {
        told += text;
        const end = told.indexOf('\n\n', told.indexOf('id: '));
        if (!told.includes('id: ') || end < 0 || outgoing.writableEnded) return;
        lost++;
        outgoing.end(told.slice(0, end + 2));
        answer.destroy();
      });
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    onward.end(sent);
  };
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost: () => lost,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const SERVED = 'send_message';
const CALLED = /"name":"([a-z_]+)"/;

function toCall(body: Buffer): Buffer {
  const message = JSON.parse(body.toString());
  const { name, arguments: args } = message.params;
  const params = { ...message.params, name: SERVED, arguments: CALLS[name]?.(args ?? {}) };
  return Buffer.from(JSON.stringify({ ...message, params }));
}
