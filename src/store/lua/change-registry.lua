-- Changes the registry by compare-and-set: all of the change or nothing (2: it is held). Versions stay for good.
-- KEYS[1] key prefix
-- ARGV 1 expected revision, 2 mark of this change, counts: 3 of documents put, 4 of names removed,
--      5 of attachments, 6 of attachments removed; then name, version, entry and document of each,
--      names, id and attachment of each, ids
local p = KEYS[1]
if (redis.call('HGET', p .. 'registry', 'rev') or '0') ~= ARGV[1] then return 0 end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if redis.call('ZCOUNT', p .. 'registry:holds', now, '+inf') > 0 then return 2 end
local put, remove, attach, detach = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local entries, attachments = p .. 'registry:entries', p .. 'registry:attachments'
local names = 7 + 4 * put
local added = names + remove
local ids = added + 2 * attach
-- A Redis that is full refuses the first write: it must be one that it can refuse, or half would stand.
redis.call('HSET', p .. 'registry', 'rev', tonumber(ARGV[1]) + 1, 'mark', ARGV[2])
for i = names, added - 1 do redis.call('HDEL', entries, ARGV[i]) end
for i = 7, names - 1, 4 do
  redis.call('HSET', entries, ARGV[i], ARGV[i + 2])
  redis.call('SET', p .. 'version:' .. ARGV[i + 1], ARGV[i + 3])
end
for i = ids, ids + detach - 1 do redis.call('HDEL', attachments, ARGV[i]) end
for i = added, ids - 1, 2 do redis.call('HSET', attachments, ARGV[i], ARGV[i + 1]) end
return 1
