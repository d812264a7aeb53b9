-- Accepts a chunk: all of it or nothing. Manifest, place among the open chunks, lease on the blobs
-- and events, before any job exists (DESIGN 5.1).
-- KEYS[1] key prefix
-- ARGV 1 chunk, 2 batch, 3 manifest, 4 time of the next check, 5 input index of the first
--      evaluation, 6 lease in ms, 7 outbox cap, 8 counts of evaluations, 9 of blobs, 10 of events;
--      then evaluation ids, blob digests, events as JSON
local p = KEYS[1]
local chunk, batch = ARGV[1], ARGV[2]
local evaluations, blobs, events = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local standing = { 'standing' }
for i = 11, 10 + evaluations do
  if redis.call('EXISTS', p .. 'eval:' .. ARGV[i]) == 1 then standing[#standing + 1] = ARGV[i] end
end
if #standing == evaluations + 1 then return standing end
local b = redis.call('HMGET', p .. 'batch:' .. batch, 'state', 'total')
if b[1] ~= 'open' or b[2] then return { 'batch_closed' } end
if #standing > 1 then return standing end
if redis.call('XLEN', p .. 'outbox') >= tonumber(ARGV[7]) then return { 'outbox_full' } end
local lease, short = tonumber(ARGV[6]), {}
for i = 11 + evaluations, 10 + evaluations + blobs do
  local key = p .. 'blob:' .. ARGV[i]
  local left = redis.call('PTTL', key)
  -- Redis was full a moment ago and did not take it.
  if left == -2 then return { 'blob_missing' } end
  if left >= 0 and left < lease then short[#short + 1] = key end
end
-- A Redis that is full refuses the first write: it must be one that it can refuse, or half would stand.
for i = 11, 10 + evaluations do
  redis.call('SET', p .. 'eval:' .. ARGV[i], chunk .. ':' .. (i - 11))
end
redis.call('HSET', p .. 'chunk:' .. chunk, 'm', ARGV[3], 'g', 1, 'left', evaluations)
for i = 1, #short do redis.call('PEXPIRE', short[i], lease) end
redis.call('ZADD', p .. 'open', ARGV[4], chunk)
redis.call('ZADD', p .. 'batch:' .. batch .. ':chunks', ARGV[5], chunk)
redis.call('HINCRBY', p .. 'batch:' .. batch, 'accepted', evaluations)
for i = 11 + evaluations + blobs, 10 + evaluations + blobs + events do
  redis.call('XADD', p .. 'outbox', '*', 'e', ARGV[i])
end
return { 'accepted' }
