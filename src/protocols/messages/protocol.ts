import { defineProtocol } from '../define-protocol.ts';
import { MESSAGES_HEADERS, messagesHeaders, VENDOR_PREFIX } from './messages-headers.ts';

/** Messages, and how long a prompt is, free of charge (contract: Messages protocol). */
export const messages = defineProtocol({
  provider: {
    path: '/messages',
    headers: { names: MESSAGES_HEADERS, prefix: VENDOR_PREFIX, toHeaders: messagesHeaders },
  },
  bindsReasoning: 'vendor',
  load: async () => (await import('./parts.ts')).parts,
});
