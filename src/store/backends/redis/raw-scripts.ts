/**
 * Scripts for whole rows, with the KEYS of the others: rows, keys, expiry, version. A row that has
 * expired is one as any other.
 */

/** ARGV: a bound in lexical order, rows at most, bytes of rows to stop behind. Gives key, row, … */
const READ = `
local found, size = {}, 0
local keys = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], '+', 'LIMIT', 0, ARGV[2])
for _, key in ipairs(keys) do
  local row = redis.call('HGET', KEYS[1], key)
  found[#found + 1] = key
  found[#found + 1] = row or ''
  size = size + #(row or '')
  if size >= tonumber(ARGV[3]) then break end
end
return found
`;

/** ARGV: key, expiry or nothing, row, … */
const WRITE = `
for i = 1, #ARGV, 3 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
  redis.call('ZADD', KEYS[2], 0, ARGV[i])
  if ARGV[i + 1] ~= '' then redis.call('ZADD', KEYS[3], ARGV[i + 1], ARGV[i]) end
end
`;

export const RAW_SCRIPTS = { read: READ, write: WRITE } as const;
