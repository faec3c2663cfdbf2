import { defineProtocol } from '../define-protocol.ts';
import { MESSAGES_HEADERS, messagesHeaders } from './messages-headers.ts';

/** Messages, and how long a prompt is, free of charge (contract: Messages protocol). */
export const messages = defineProtocol({
  provider: {
    path: '/messages',
    headers: { names: MESSAGES_HEADERS, toHeaders: messagesHeaders },
  },
  bindsReasoning: 'vendor',
  load: async () => (await import('./parts.ts')).parts,
});
