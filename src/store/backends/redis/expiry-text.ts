/**
 * Writes a deadline as the scripts read it: nothing for a row that stays, and never an exponent.
 */
export function expiryText(expiresAt: number): string {
  if (expiresAt === Infinity) return '';
  return expiresAt < 1e21 ? String(expiresAt) : BigInt(expiresAt).toString();
}
