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

const TOOL = '"test_reconnection"';
/** What a Service has in its place. */
const CALL = { name: 'send_message', arguments: { input: 'welcome?', wait: true } };

/**
 * A way to the Services of `target` on which a call of the tool `test_reconnection` is one that waits for
 * a turn, and its connection is lost after the first event. All else passes as it came.
 */
export async function startLossyStage(target: string): Promise<LossyStage> {
  const { hostname, port } = new URL(target);
  let lost = 0;
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method, url: path, headers } = incoming;
    const body = await buffer(incoming);
    const isLossy = body.includes(TOOL);
    const sent = isLossy ? toCall(body) : body;
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

function toCall(body: Buffer): Buffer {
  return Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), params: CALL }));
}
