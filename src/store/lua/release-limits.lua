-- Frees places under limits. KEYS[1] key prefix; ARGV 1 holder, 2 whether nothing has begun (1); then names
local p = KEYS[1]
for i = 3, #ARGV do
  local key = p .. 'limit:' .. ARGV[i]
  local was = redis.call('ZREM', key .. ':held', ARGV[1])
  if was == 1 and ARGV[2] == '1' and redis.call('EXISTS', key) == 1 then
    redis.call('HINCRBYFLOAT', key, 't', 1)
  end
end
return 1
