import { defineProtocol } from '../define-protocol.ts';

/** Video tasks (decisions: Native video tasks). */
export const videos = defineProtocol({
  provider: { path: '/videos' },
  leavesWork: true,
  load: async () => ({ wire: (await import('./videos.ts')).videos }),
});
