import { defineProtocol } from '../define-protocol.ts';
import { STANDARD } from '../family.ts';

/** Chat completions (contract: Chat completions). */
export const chat = defineProtocol({
  provider: { path: '/chat/completions' },
  async load() {
    const [{ chat: wire }, { chatCodec: codec }] = await Promise.all([
      import('./chat.ts'),
      import('./codec/chat-codec.ts'),
    ]);
    return {
      wire,
      codec,
      surfaces: (protocol) => [
        {
          name: 'chat',
          paths: ['/v1/chat/completions'],
          family: STANDARD,
          protocol,
          repeatable: true,
        },
      ],
    };
  },
});
