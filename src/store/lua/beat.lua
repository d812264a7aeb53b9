-- One heartbeat with what it serves; heartbeats that are too old are forgotten, and so is what they served.
-- KEYS[1] key prefix; ARGV 1 `<role>/<id>`, 2 time, 3 what it serves as JSON, 4 time before which others are forgotten
local p = KEYS[1]
redis.call('ZADD', p .. 'roles', ARGV[2], ARGV[1])
if ARGV[3] == '[]' then
  redis.call('HDEL', p .. 'roles:serves', ARGV[1])
else
  redis.call('HSET', p .. 'roles:serves', ARGV[1], ARGV[3])
end
local old = redis.call('ZRANGEBYSCORE', p .. 'roles', '-inf', ARGV[4], 'LIMIT', 0, 1000)
if #old > 0 then
  redis.call('ZREM', p .. 'roles', unpack(old))
  redis.call('HDEL', p .. 'roles:serves', unpack(old))
end
return #old
