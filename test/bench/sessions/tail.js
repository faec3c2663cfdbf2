// A reader of event streams on a bare socket: a thousand of them must cost less than what they read.
import { connect } from 'node:net';

const FRAME = /event: (\S+)\nid: (\S+)\n/g;

/**
 * Resolves when the stream is open. `onEvent` gets the type and the id of each event.
 *
 * @param {{ url: string, path: string, key?: string, after?: string, onEvent: (type: string, id: string) => void }} options
 * @returns {Promise<{ close(): void }>}
 */
export function openTail({ url, path, key, after, onEvent }) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let isOpen = false;
    let rest = '';
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\n` +
        (key ? `authorization: Bearer ${key}\r\n` : '') +
        (after ? `last-event-id: ${after}\r\n` : '') +
        '\r\n',
    );
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`no stream: ${rest}`)));
    socket.setEncoding('latin1').on('data', (text) => {
      rest += text;
      if (!isOpen) {
        if (!rest.includes(': connected\n')) return;
        isOpen = true;
        resolve({ close: () => socket.destroy() });
      }
      let end = 0;
      for (const match of rest.matchAll(FRAME)) {
        end = match.index + match[0].length;
        onEvent(match[1], match[2]);
      }
      // A frame begins near the end at most.
      rest = rest.slice(Math.max(end, rest.length - 200));
    });
  });
}

/** @returns {Promise<number>} when `count` events have arrived in all, in ms since `performance.timeOrigin` */
export function counter() {
  let seen = 0;
  let wanted = Infinity;
  let done = () => {};
  return {
    take: () => {
      seen += 1;
      if (seen >= wanted) done(performance.now());
    },
    until: (count) =>
      new Promise((resolve) => {
        wanted = count;
        done = resolve;
        if (seen >= wanted) resolve(performance.now());
      }),
    get seen() {
      return seen;
    },
  };
}
