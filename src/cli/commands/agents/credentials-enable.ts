import { setStatus } from '../../resources/set-status.ts';

export const run = setStatus('credentials', 'active');
