import { browserConnection } from './browser-connection.ts';
import { Hub } from './hub.ts';
import type { TabMessage } from './messages.ts';

// The one worker of a browser that holds streams: every tab of the console has a port to it.

const hub = new Hub(browserConnection(fetch.bind(globalThis)));

globalThis.addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (!port) return;
  let isWatched = false;
  port.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    hub.take(data, (message) => port.postMessage(message));
    if (isWatched) return;
    isWatched = true;
    // A tab holds the lock of its name as long as it lives, however it ends.
    void navigator.locks?.request(`tab ${data.tab}`, () => hub.leave(data.tab));
  });
  port.start();
});
