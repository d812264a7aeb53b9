-- One transition of a plan: decision, state, history, command, evaluation and events, or nothing
-- (DESIGN 4.7, 5.4).
-- KEYS[1] key prefix
-- ARGV 1 plan, 2 expected revision, 3 command and 4 its digest ('' for none)
--      5 chunk that is decided ('' for none), 6 decision, 7 stage of its results ('' for none)
--      8 next state ('' when the plan does not move), 9 its revision, 10 its line of history,
--      11 phase, 12 project, 13 time of creation, 14 deadline ('' for none), 15 '1' when it ends the plan
--      16 chunk that is accepted ('' for none), 17 manifest, 18 time of the next check, 19 lease in ms
--      20 retention in ms, 21 outbox cap, 22 counts of events, 23 of blobs,
--      24 expected revision of the registry ('' for any), or `<` and the time in ms before which it holds;
--      then events as JSON, digest and content of each blob
-- Returns: done; or repeated with revision and digest, stale with the state, decided, outbox_full, missing (pieces of a blob are to be stored first)
local p = KEYS[1]
local plan, expected, decided, stage = ARGV[1], ARGV[2], ARGV[5], ARGV[7]
local accepted, retention = ARGV[16], ARGV[20]
local key, log, chunks = p .. 'plan:' .. plan, p .. 'plan-log:' .. plan, p .. 'plan-chunks:' .. plan
local dkey, staged = p .. 'chunk:' .. decided, p .. 'rs:' .. decided .. ':' .. stage

-- Results live as long as their chunk does.
local function keep_results()
  local left = redis.call('PTTL', dkey)
  if left < 0 then to_whole('PERSIST', staged) else to_whole('PEXPIRE', staged, left) end
end
local function refuse(...)
  if stage ~= '' then
    -- The same step may come twice, when its first answer was lost: then its results are in use.
    if redis.call('HGET', dkey, 's0') == stage then keep_results() else to_whole('UNLINK', staged) end
  end
  return { ... }
end

local stands = redis.call('HMGET', key, 'rev', 'c:' .. ARGV[3])
if ARGV[4] ~= '' and stands[2] then
  local revision, digest = string.match(stands[2], '^(%d+):(.*)$')
  return refuse('repeated', revision, digest)
end
if (stands[1] or '0') ~= expected then return refuse('stale', redis.call('HGET', key, 's')) end
local before = string.match(ARGV[24], '^<(%d+)$')
if before then
  -- The registry is in another shard, which keeps it as it is until then.
  local t = redis.call('TIME')
  if t[1] * 1000 + math.floor(t[2] / 1000) >= tonumber(before) then
    return refuse('stale', redis.call('HGET', key, 's'))
  end
elseif ARGV[24] ~= '' and (redis.call('HGET', p .. 'registry', 'rev') or '0') ~= ARGV[24] then
  return refuse('stale', redis.call('HGET', key, 's'))
end
if decided ~= '' then
  -- A chunk that is gone was decided once.
  local d = redis.call('HMGET', dkey, 'left', 'd0')
  if not d[1] or d[2] then return refuse('decided') end
  if stage ~= '' and redis.call('EXISTS', staged) == 0 then
    return redis.error_reply('ERR the results were not staged')
  end
elseif accepted ~= '' and redis.call('XLEN', p .. 'outbox') >= tonumber(ARGV[21]) then
  return refuse('outbox_full')
end

local events, blobs = tonumber(ARGV[22]), tonumber(ARGV[23])
for i = 25 + events, 24 + events + 2 * blobs, 2 do
  if not has_pieces(p, ARGV[i], ARGV[i + 1]) then return refuse('missing') end
end

-- A Redis that is full refuses the first write: it must be one that it can refuse, or half would stand.
if decided ~= '' then
  redis.call('HSET', dkey, 'd0', ARGV[6], 's0', stage, 'left', 0)
  redis.call('ZREM', p .. 'open', decided)
  forget_recorded(p, decided, stage)
  if stage ~= '' then keep_results() end
end
if accepted ~= '' then
  redis.call('SET', p .. 'eval:' .. accepted, accepted .. ':0')
  local lease, first = tonumber(ARGV[19]), 25 + events
  for i = first, first + 2 * blobs - 1, 2 do
    hold_blob(p, ARGV[i], ARGV[i + 1], lease)
  end
  redis.call('HSET', p .. 'chunk:' .. accepted, 'm', ARGV[17], 'g', 1, 'left', 1)
  redis.call('ZADD', p .. 'open', ARGV[18], accepted)
  redis.call('RPUSH', chunks, accepted)
end
if ARGV[8] ~= '' then
  redis.call('HSET', key, 'rev', ARGV[9], 's', ARGV[8], 'phase', ARGV[11], 'project', ARGV[12])
  if ARGV[4] ~= '' then redis.call('HSET', key, 'c:' .. ARGV[3], ARGV[9] .. ':' .. ARGV[4]) end
  redis.call('RPUSH', log, ARGV[10])
  redis.call('ZADD', p .. 'plans', ARGV[13], plan)
  if ARGV[14] == '' then redis.call('ZREM', p .. 'plans:due', plan) else redis.call('ZADD', p .. 'plans:due', ARGV[14], plan) end
  if ARGV[15] == '1' then
    for _, chunk in ipairs(redis.call('LRANGE', chunks, 0, -1)) do
      local ckey = p .. 'chunk:' .. chunk
      local s = redis.call('HGET', ckey, 's0')
      if s then to_whole('PEXPIRE', p .. 'rs:' .. chunk .. ':' .. s, retention) end
      redis.call('PEXPIRE', ckey, retention)
      redis.call('PEXPIRE', p .. 'eval:' .. chunk, retention)
    end
    redis.call('PEXPIRE', chunks, retention)
    redis.call('PEXPIRE', log, retention)
    redis.call('PEXPIRE', key, retention)
  end
  -- Keys expire by themselves, members of an index do not: every step takes some of them along.
  local t = redis.call('TIME')
  local now = t[1] * 1000 + math.floor(t[2] / 1000)
  if ARGV[15] == '1' then
    redis.call('ZADD', p .. 'plans:ended', now + retention + 1, plan)
  elseif expected == '0' then
    redis.call('ZREM', p .. 'plans:ended', plan)
  end
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', p .. 'plans:ended', '-inf', now, 'LIMIT', 0, 10)) do
    redis.call('ZREM', p .. 'plans', gone)
    redis.call('ZREM', p .. 'plans:ended', gone)
  end
end
for i = 25, 24 + events do redis.call('XADD', p .. 'outbox', '*', 'e', ARGV[i]) end
return { 'done' }
