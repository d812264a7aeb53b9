-- Takes a place under all of some limits, or stands in line under those that have none. What it decides is
-- src/core/limits.ts, word by word.
-- KEYS[1] key prefix
-- ARGV 1 holder, 2 ticket, 3 now, 4 time at which the place runs out, 5 ms that one may be late, 6 shortest
--      and 7 longest pause, 8 pause for each place; then per limit: name, concurrency, count and ms of its
--      rate, each -1 where there is none
-- Returns: 0 when it was let in, else the ms until it asks again
local p, holder = KEYS[1], ARGV[1]
local ticket, now, until_ = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local late, shortest, longest, each = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local limits, pause = {}, 0
for i = 9, #ARGV, 4 do
  local key = p .. 'limit:' .. ARGV[i]
  local concurrency, count, per = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local held_key, line, seen = key .. ':held', key .. ':line', key .. ':seen'
  redis.call('ZREMRANGEBYSCORE', held_key, '-inf', now)
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', now, 'LIMIT', 0, 1000)) do
    redis.call('ZREM', line, gone)
    redis.call('ZREM', seen, gone)
  end
  local held = redis.call('ZCARD', held_key)
  if redis.call('ZSCORE', held_key, holder) then held = held - 1 end
  redis.call('ZADD', line, ticket, holder)
  local ahead = redis.call('ZRANK', line, holder)
  local tokens = math.huge
  if count > 0 then
    local kept = redis.call('HMGET', key, 't', 'a')
    tokens = count
    if kept[1] then
      tokens = math.min(count, tonumber(kept[1]) + math.max(0, now - tonumber(kept[2])) * count / per)
    end
  end
  local room = math.floor(tokens)
  if concurrency > 0 then room = math.min(concurrency - held, room) end
  local limit = { key = key, held = held_key, line = line, seen = seen, tokens = tokens, per = per }
  limits[#limits + 1] = limit
  if ahead >= room then
    limit.blocked = true
    local own = math.max(shortest, each * (ahead + 1))
    if count > 0 then own = math.max(own, math.ceil(math.max(0, ahead + 1 - tokens) * per / count)) end
    pause = math.max(pause, math.min(longest, own))
  end
end
for _, limit in ipairs(limits) do
  if pause > 0 and limit.blocked then
    redis.call('ZADD', limit.seen, now + pause + late, holder)
    redis.call('PEXPIRE', limit.line, longest + late)
    redis.call('PEXPIRE', limit.seen, longest + late)
  else
    redis.call('ZREM', limit.line, holder)
    redis.call('ZREM', limit.seen, holder)
    if pause == 0 then
      redis.call('ZADD', limit.held, until_, holder)
      redis.call('PEXPIRE', limit.held, until_ - now + 60000)
      if limit.per > 0 then
        redis.call('HSET', limit.key, 't', tostring(limit.tokens - 1), 'a', now)
        redis.call('PEXPIRE', limit.key, limit.per + 1000)
      end
    end
  end
end
return pause
