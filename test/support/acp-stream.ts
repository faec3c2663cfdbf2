import type { Stream } from '@agentclientprotocol/sdk';

type Message = Stream extends { writable: WritableStream<infer M> } ? M : never;

/** The official ACP client over POSTs: every message is one, and its answer lines of messages. */
export function createAcpStream(url: string, key: string): Stream {
  let controller: ReadableStreamDefaultController<Message> | undefined;
  const readable = new ReadableStream<Message>({
    start: (given) => void (controller = given),
  });
  const post = async (message: Message): Promise<void> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(message),
    });
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body ?? []) {
      rest += decoder.decode(chunk, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) controller?.enqueue(JSON.parse(line) as Message);
    }
    if (rest !== '') controller?.enqueue(JSON.parse(rest) as Message);
  };
  const writable = new WritableStream<Message>({
    // What follows may be what ends it.
    write: (message) => void post(message).catch((error: unknown) => controller?.error(error)),
  });
  return { readable, writable };
}
