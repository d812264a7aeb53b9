-- Writes decisions and their events in one step; a decision that stands is never touched (DESIGN 5.4).
-- KEYS[1] key prefix
-- ARGV 1 chunk, 2 batch ('' for none), 3 stage, 4 retention in ms, 5 lease in ms of what a pack recorded by
--      itself under this stage (0: results were staged for this commit), 6 count of the chunk's evaluations,
--      7 count of decisions;
--      then per decision: position, evaluation, decision, status, vacuous passes, count of events, events
-- Returns: count of undecided evaluations left in the chunk (-1: the chunk is gone), then the
-- positions that were decided by this call
local p = KEYS[1]
local chunk, batch, stage, retention = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local lease, decisions = tonumber(ARGV[5]), tonumber(ARGV[7])
local key = p .. 'chunk:' .. chunk
local staged = p .. 'rs:' .. chunk .. ':' .. stage
local answer = { -1 }
local left = redis.call('HGET', key, 'left')
if not left then return answer end
if redis.call('EXISTS', staged) == 0 then
  if lease > 0 and tonumber(left) == 0 then return { 0 } end
  return redis.error_reply('ERR the results were not staged')
end
local own, at = false, {}
local i = 8
for n = 1, decisions do
  at[n] = i
  i = i + 6 + tonumber(ARGV[i + 5])
end
local written = {}
if left == ARGV[6] and left == ARGV[7] then
  -- Nothing is decided yet, and all of it is now: one write for all decisions, one stage.
  local fields = { 's', stage }
  for n = 1, decisions do
    fields[2 * n + 1] = 'd' .. ARGV[at[n]]
    fields[2 * n + 2] = ARGV[at[n] + 2]
  end
  redis.call('HSET', key, unpack(fields))
  written = at
else
  local common = redis.call('HGET', key, 's')
  for n = 1, decisions do
    local position = ARGV[at[n]]
    if redis.call('HSETNX', key, 'd' .. position, ARGV[at[n] + 2]) == 1 then
      redis.call('HSET', key, 's' .. position, stage)
      written[#written + 1] = at[n]
    elseif (redis.call('HGET', key, 's' .. position) or common) == stage then
      own = true
    end
  end
end
local fresh, vacuous, positions = #written, 0, {}
local counts = { passed = 0, failed = 0, errored = 0 }
local outbox, evaluation = p .. 'outbox', p .. 'eval:'
for n = 1, fresh do
  local d = written[n]
  local status = ARGV[d + 3]
  positions[n] = ARGV[d]
  counts[status] = counts[status] + 1
  vacuous = vacuous + tonumber(ARGV[d + 4])
  for e = d + 6, d + 5 + tonumber(ARGV[d + 5]) do redis.call('XADD', outbox, '*', 'e', ARGV[e]) end
  redis.call('PEXPIRE', evaluation .. ARGV[d + 1], retention)
  answer[n + 1] = tonumber(ARGV[d])
end
if fresh == 0 then
  answer[1] = tonumber(left)
  -- The same commit may come twice, when its first answer was lost: then its results are in use.
  if not own and lease == 0 then to_whole('UNLINK', staged) end
else
  answer[1] = redis.call('HINCRBY', key, 'left', -fresh)
  if lease > 0 then to_whole('PEXPIRE', staged, lease) end
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
  forget_recorded(p, chunk, lease > 0 and stage)
  redis.call('PEXPIRE', key, retention)
end
return answer
