/** Names of the unstorage drivers that keep each value as a file below their `base`. */
export const FILE_DRIVERS = ['fs', 'fs-lite', 'fsLite'] as const;

export function isFileDriver(name: string): boolean {
  return FILE_DRIVERS.some((one) => one === name);
}
