import { setStatus } from '../set-status.ts';

export const run = setStatus('services', 'disabled');
