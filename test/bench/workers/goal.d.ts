export function judgeWorkers(ratio: number): string;
