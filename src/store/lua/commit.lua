-- Writes decisions and their events in one step; a decision that stands is never touched (DESIGN 5.4).
-- KEYS[1] key prefix
-- ARGV 1 chunk, 2 batch ('' for none), 3 stage, 4 retention in ms, 5 count of decisions;
--      then per decision: position, evaluation, decision, status, vacuous passes, count of events, events
-- Returns: count of undecided evaluations left in the chunk (-1: the chunk is gone), then the
-- positions that were decided by this call
local p = KEYS[1]
local chunk, batch, stage, retention = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key = p .. 'chunk:' .. chunk
local answer = { -1 }
if redis.call('EXISTS', key) == 0 then return answer end
local staged = p .. 'rs:' .. chunk .. ':' .. stage
local fresh, vacuous, positions = 0, 0, {}
if redis.call('EXISTS', staged) == 0 then
  return redis.error_reply('ERR the results were not staged')
end
local counts = { passed = 0, failed = 0, errored = 0 }
local i, own = 6, false
for _ = 1, tonumber(ARGV[5]) do
  local position, evaluation, events = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 5])
  if redis.call('HSETNX', key, 'd' .. position, ARGV[i + 2]) == 1 then
    redis.call('HSET', key, 's' .. position, stage)
    fresh = fresh + 1
    positions[fresh] = position
    counts[ARGV[i + 3]] = counts[ARGV[i + 3]] + 1
    vacuous = vacuous + tonumber(ARGV[i + 4])
    for e = i + 6, i + 5 + events do redis.call('XADD', p .. 'outbox', '*', 'e', ARGV[e]) end
    redis.call('PEXPIRE', p .. 'eval:' .. evaluation, retention)
    answer[#answer + 1] = tonumber(position)
  elseif redis.call('HGET', key, 's' .. position) == stage then
    own = true
  end
  i = i + 6 + events
end
if fresh == 0 then
  answer[1] = tonumber(redis.call('HGET', key, 'left'))
  -- The same commit may come twice, when its first answer was lost: then its results are in use.
  if not own then to_whole('UNLINK', staged) end
else
  answer[1] = redis.call('HINCRBY', key, 'left', -fresh)
  local b = p .. 'batch:' .. batch
  if batch ~= '' and redis.call('EXISTS', b) == 1 then
    redis.call('HINCRBY', b, 'decided', fresh)
    for status, n in pairs(counts) do
      if n > 0 then redis.call('HINCRBY', b, status, n) end
    end
    if vacuous > 0 then redis.call('HINCRBY', b, 'vacuous', vacuous) end
    redis.call('XADD', b .. ':log', '*', 'c', chunk, 'p', table.concat(positions, ','))
  end
end
if answer[1] == 0 then
  redis.call('ZREM', p .. 'open', chunk)
  redis.call('UNLINK', p .. 'res:' .. chunk)
  redis.call('PEXPIRE', key, retention)
end
return answer
