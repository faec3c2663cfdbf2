/**
 * Scripts that run inside Redis, each as one atomic step. All keys carry one hash tag, so that a
 * cluster keeps them together: `rows` (a hash), `keys` (a sorted set in lexical order), `expiry`
 * (by instant) and `version` (a counter). A row is `<version>|<expiry or nothing>|<envelope>`.
 */
const HEAD = `
local function alive(row, now)
  if not row then return nil end
  local version, expiry = string.match(row, '^(%d+)|([%d.]*)|')
  if expiry ~= '' and tonumber(expiry) <= now then return nil end
  return version, expiry, string.sub(row, #version + #expiry + 3)
end
`;

interface Script {
  readonly numberOfKeys: number;
  readonly lua: string;
}

/** ARGV: now, channel, sender, then five for each operation: type, key, condition, expiry, envelope. */
const COMMIT = `${HEAD}
local now = tonumber(ARGV[1])
for i = 4, #ARGV, 5 do
  local condition = ARGV[i + 2]
  if condition ~= '' then
    local version = alive(redis.call('HGET', KEYS[1], ARGV[i + 1]), now)
    local holds = condition == 'absent' and not version or '=' .. (version or '') == condition
    if not holds then return {0, (i - 4) / 5} end
  end
end
local version = redis.call('INCR', KEYS[4])
local changed = {}
for i = 4, #ARGV, 5 do
  local kind, key, expiry = ARGV[i], ARGV[i + 1], ARGV[i + 3]
  local written = kind == 'put'
  if written then
    redis.call('HSET', KEYS[1], key, string.format('%.0f', version) .. '|' .. expiry .. '|' .. ARGV[i + 4])
    redis.call('ZADD', KEYS[2], 0, key)
  elseif kind == 'delete' then
    written = redis.call('HDEL', KEYS[1], key) == 1
    redis.call('ZREM', KEYS[2], key)
  end
  if written then
    if expiry ~= '' then redis.call('ZADD', KEYS[3], expiry, key)
    else redis.call('ZREM', KEYS[3], key) end
    if #changed < 64 then changed[#changed + 1] = #key .. ':' .. key end
  end
end
local named = (#ARGV - 3) / 5 <= 64
if #changed > 0 then
  redis.call('PUBLISH', ARGV[2], ARGV[3] .. (named and table.concat(changed) or '*'))
end
return {1, string.format('%.0f', version)}
`;

/** ARGV: now, key. */
const GET = `${HEAD}
local version, _, envelope = alive(redis.call('HGET', KEYS[1], ARGV[2]), tonumber(ARGV[1]))
if not version then return nil end
return {version, envelope}
`;

/** ARGV: now, start, end, limit, reverse, most bytes. */
const LIST = `${HEAD}
local now, limit = tonumber(ARGV[1]), tonumber(ARGV[4])
local command = ARGV[5] == '1' and 'ZREVRANGEBYLEX' or 'ZRANGEBYLEX'
local most = tonumber(ARGV[6])
local found, offset, bytes = {}, 0, 0
while #found < limit * 3 and bytes < most do
  local keys = redis.call(command, KEYS[2], ARGV[2], ARGV[3], 'LIMIT', offset, limit)
  for _, key in ipairs(keys) do
    if #found == limit * 3 or bytes >= most then break end
    local version, _, envelope = alive(redis.call('HGET', KEYS[1], key), now)
    if version then
      found[#found + 1] = key
      found[#found + 1] = version
      found[#found + 1] = envelope
      bytes = bytes + #envelope
    end
  end
  if #keys < limit then break end
  offset = offset + #keys
end
return found
`;

/** ARGV: now, channel, sender, key, by, expiry of a counter that appears. */
const INCREMENT = `${HEAD}
local now, key = tonumber(ARGV[1]), ARGV[4]
local version, expiry, envelope = alive(redis.call('HGET', KEYS[1], key), now)
local sum = tonumber(ARGV[5])
if version then
  local current = string.match(envelope, '^j(-?%d[%d.eE+-]*)$')
  if not current then return nil end
  sum = sum + tonumber(current)
else
  expiry = ARGV[6]
end
if sum ~= sum or sum == math.huge or sum == -math.huge then return nil end
local text = string.format('%.17g', sum)
local next = string.format('%.0f', redis.call('INCR', KEYS[4]))
redis.call('HSET', KEYS[1], key, next .. '|' .. expiry .. '|j' .. text)
redis.call('ZADD', KEYS[2], 0, key)
if expiry ~= '' then redis.call('ZADD', KEYS[3], expiry, key)
else redis.call('ZREM', KEYS[3], key) end
redis.call('PUBLISH', ARGV[2], ARGV[3] .. #key .. ':' .. key)
return text
`;

/** ARGV: now, limit. */
const SWEEP = `
local due = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, key in ipairs(due) do
  redis.call('HDEL', KEYS[1], key)
  redis.call('ZREM', KEYS[2], key)
  redis.call('ZREM', KEYS[3], key)
end
return #due
`;

/** ARGV: an instant, rows to skip, rows at most. Gives key, expiry, … of rows that expire from then on. */
const EXPIRING = `
return redis.call('ZRANGEBYSCORE', KEYS[3], ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', ARGV[2], ARGV[3])
`;

/** ARGV: key, expiry as it was, expiry, … of rows that get another one; their versions stay. */
const CORRECT = `
for i = 1, #ARGV, 3 do
  local key, before, expiry = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local row = redis.call('HGET', KEYS[1], key)
  local version, given, envelope = string.match(row or '', '^(%d+)|([%d.]*)|(.*)$')
  if version and given == before then
    redis.call('HSET', KEYS[1], key, version .. '|' .. expiry .. '|' .. envelope)
    redis.call('ZADD', KEYS[3], expiry, key)
  end
end
`;

const script = (lua: string): Script => ({ numberOfKeys: 4, lua });

export const SCRIPTS = {
  storeCommit: script(COMMIT),
  storeGet: script(GET),
  storeList: script(LIST),
  storeIncrement: script(INCREMENT),
  storeSweep: script(SWEEP),
  storeExpiring: script(EXPIRING),
  storeCorrect: script(CORRECT),
} as const;
