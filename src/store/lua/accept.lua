-- Accepts a chunk: all of it or nothing. Blobs with their lease, manifest, place among the open
-- chunks and events, before any job exists (DESIGN 5.1).
-- KEYS[1] key prefix
-- ARGV 1 chunk, 2 batch ('' for none), 3 manifest, 4 time of the next check, 5 input index of the first
--      evaluation, 6 lease in ms, 7 outbox cap, 8 counts of evaluations, 9 of blobs, 10 of events;
--      then evaluation ids, digest and content of each blob ('': stored a moment ago for this chunk, which is
--      its first user), events as JSON; last, where these blobs are not just what the manifest names, the
--      digests of all of them
-- Returns: accepted, or why not; missing: pieces of a blob are to be stored first
local p = KEYS[1]
local chunk, batch = ARGV[1], ARGV[2]
local evaluations, blobs, events = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local first = 11 + evaluations
local at = first + 2 * blobs
local function refuse(answer)
  for i = first, at - 1, 2 do
    if ARGV[i + 1] == '' then let_blob_go(p, ARGV[i]) end
  end
  return answer
end
local function standing()
  local found = { 'standing' }
  for i = 11, 10 + evaluations do
    if redis.call('EXISTS', p .. 'eval:' .. ARGV[i]) == 1 then found[#found + 1] = ARGV[i] end
  end
  return found
end
-- What stands already says so first.
local function refuse_new(word)
  local known = standing()
  return refuse(#known > 1 and known or { word })
end
if batch ~= '' then
  local b = redis.call('HMGET', p .. 'batch:' .. batch, 'state', 'total')
  if b[1] ~= 'open' or b[2] then
    local known = standing()
    return refuse(#known == evaluations + 1 and known or { 'batch_closed' })
  end
end
for i = first, at - 1, 2 do
  if not has_pieces(p, ARGV[i], ARGV[i + 1]) then return refuse_new('missing') end
end
if redis.call('XLEN', p .. 'outbox') >= tonumber(ARGV[7]) then return refuse_new('outbox_full') end
-- All or none of them, and the first write: a Redis that is full refuses it, and nothing stands.
local places = {}
for i = 11, 10 + evaluations do
  places[#places + 1] = p .. 'eval:' .. ARGV[i]
  places[#places + 1] = chunk .. ':' .. (i - 11)
end
if redis.call('MSETNX', unpack(places)) == 0 then return refuse(standing()) end
local lease = tonumber(ARGV[6])
for i = first, at - 1, 2 do
  if ARGV[i + 1] ~= '' then hold_blob(p, ARGV[i], ARGV[i + 1], lease) end
end
redis.call('HSET', p .. 'chunk:' .. chunk, 'm', ARGV[3], 'g', 1, 'left', evaluations)
if ARGV[at + events] then redis.call('HSET', p .. 'chunk:' .. chunk, 'h', ARGV[at + events]) end
redis.call('ZADD', p .. 'open', ARGV[4], chunk)
if batch ~= '' then
  redis.call('ZADD', p .. 'batch:' .. batch .. ':chunks', ARGV[5], chunk)
  redis.call('HINCRBY', p .. 'batch:' .. batch, 'accepted', evaluations)
end
for i = at, at + events - 1 do redis.call('XADD', p .. 'outbox', '*', 'e', ARGV[i]) end
return { 'accepted' }
