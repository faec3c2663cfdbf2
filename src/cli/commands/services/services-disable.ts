import { setStatus } from '../../resources/set-status.ts';

export const run = setStatus('services', 'disabled');
