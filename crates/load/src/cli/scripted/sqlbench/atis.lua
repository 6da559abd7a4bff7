-- ATIS: the Air Travel Information System, 28 small tables of airports, flights and fares of nine cities; most of them
-- are keys to others.
--
-- Differences from the original: rows and the constants of queries are our own, codes are whole numbers, so `NOT LIKE`
-- between two codes is `<>`; minutes are computed without FLOOR and MOD; SQLite has no STD, so it computes the variance.
-- The tables, columns and keys are the original's, and so is the number of rows of all tables together. Column values
-- are functions of the row's number, so that the rows of every answer can be computed. ---------------------

-- A line a table: its name, its rows at full scale, its primary key, its other indexes, and its columns. A column is
-- the row's number (#), that modulo so many (%) or divided by so many (/), the number of a row of another table, all of
-- them in turn (@), or how often all of them have been used (*); or words with that many different endings (~).
local ATIS = {}
for line in ([[
aircraft 133 aircraft_code: aircraft_code# aircraft_type~133 engines%4 category~6 wide_body~2 wing_span%60 length1%70 weight%90 capacity%60 pay_load%130 cruising_speed%50 range_miles%100 pressurized~2
airline 306 airline_code: airline_code# airline_name~306 notes~5
airport 9 airport_code: airport_code# airport_name~9 location~9 state_code@state country_name~2 time_zone_code@time_zone
airport_service 14 city_code,airport_code: city_code@city airport_code@airport miles_distant%13 direction~8 minutes_distant%12
city 11 city_code: city_code# city_name~11 state_code@state country_name~2 time_zone_code@time_zone
class_of_service 37 class_code: class_code# ranking%20 class_description~30
code_description 738 code: code# description~700
compound_class 149 fare_class: fare_class# base_class@class_of_service class_type~6 premium~2 economy~2 discounted~2 night~2 season_fare~4 class_days~3
connect_leg 349 connect_code,leg_number,flight_code: connect_code/2 leg_number%2 flight_code@flight
fconnection 150 connect_code index=from_airport,to_airport: connect_code# from_airport@airport to_airport%8 departure_time%240 arrival_time%260 flight_days~7 stops%3 connections%2 time_elapsed%200
day_name 7 day_code: day_code# day_name~7
dual_carrier 114 main_airline,dual_airline,low_flight index=main_airline: main_airline%25 dual_airline%30 low_flight# high_flight%90 fconnection_name~40
fare 534 fare_code index=from_airport,to_airport: fare_code# from_airport@airport to_airport%8 fare_class@compound_class fare_airline@airline restrict_code@restriction one_way_cost%400 rnd_trip_cost%500
flight 579 flight_code index=from_airport,to_airport: flight_code# flight_days~20 from_airport@airport to_airport%8 departure_time%240 arrival_time%260 airline_code%4 flight_number%500 class_string~30 aircraft_code%22 meal_code%20 stops%3 dual_carrier~2 time_elapsed%290
flight_class 1779 flight_code,fare_class: flight_code@flight fare_class*flight
flight_day 448 day_mask,day_code: day_mask/7 day_code%7 day_name~7
flight_fare 3391 flight_code,fare_code: flight_code@flight fare_code#
food_service 125 meal_code,meal_number,meal_class: meal_code/4 meal_number%4 meal_class~2 meal_description~4
ground_service 33 city_code,airport_code,transport_code: city_code@city airport_code@airport transport_code@transport ground_fare%4
time_interval 12 period,begin_time: period~11 begin_time# end_time%24
month_name 12 month_number: month_number# month_name~12
restrict_carrier 680 restrict_code,airline_code: restrict_code%64 airline_code/64
restrict_class 5 restrict_code,ex_fare_class: restrict_code# ex_fare_class%4
restriction 77 restrict_code: restrict_code# application~4 no_discounts~5 reserve_ticket%9 stopovers~2 return_min%7 return_max%6
state 63 state_code: state_code# state_name~63 country_name~2
stop1 2 flight_code,stop_number: flight_code@flight stop_number# stop_flight@flight
time_zone 4 time_zone_code,time_zone_name: time_zone_code# time_zone_name~4
transport 7 transport_code: transport_code# transport_desc~7
]]):gmatch("[^\n]+") do
  local name, rows, primary, indexes, columns = line:match("^(%S+) (%d+) ([^%s:]+)(%S*[^:]*): (.*)$")
  local declared = { name = name, full = tonumber(rows), primary = primary, columns = {}, indexes = {} }
  for index in indexes:gsub(" index=", ""):gmatch("[^,]+") do
    declared.indexes[#declared.indexes + 1] = index
  end
  for column, kind, of_what in columns:gmatch("([%w_]+)([#%%/@*~])(%S*)") do
    declared.columns[#declared.columns + 1] = { name = column, kind = kind, of = tonumber(of_what) or of_what }
    declared[column] = declared.columns[#declared.columns]
  end
  ATIS[#ATIS + 1], ATIS[name] = declared, declared
end

tests.ATIS = function()
  -- Tables with no more rows than 150 keep all of them at every scale: states, months, airlines.
  local function rows_of(name)
    local full = ATIS[name].full
    return full <= 150 and full or of(full)
  end

  -- The value of a column in a row; of a word, the number of its ending.
  local function value(column, row)
    local kind = column.kind
    if kind == "#" then
      return row
    elseif kind == "%" or kind == "~" then
      return row % column.of
    elseif kind == "/" then
      return floor(row / column.of)
    end
    local rows = rows_of(column.of)
    return kind == "@" and row % rows or floor(row / rows)
  end
  local function get(name, column, row)
    return value(ATIS[name][column], row)
  end

  -- Number of different values, none of which is nil, that `make` makes of a table's rows.
  local function different(name, make)
    local known, count = {}, 0
    for row = 0, rows_of(name) - 1 do
      local values = make(row)
      local key = values and concat(values, ",")
      if key and not known[key] then
        known[key], count = true, count + 1
      end
    end
    return count
  end
  -- Different rows in these columns, among those that satisfy `is_such`.
  local function distinct(name, columns, is_such)
    return different(name, function(row)
      return (not is_such or is_such(row)) and map(1, #columns, function(place)
        return get(name, columns[place], row)
      end)
    end)
  end
  local function count(name, is_such)
    local found = 0
    for row = 0, rows_of(name) - 1 do
      found = found + (is_such(row) and 1 or 0)
    end
    return found
  end
  -- Tables in braces get our prefix.
  local function question(rows, sql)
    return { rows, (sql:gsub("{", PREFIX):gsub("}", ""):gsub("%s+", " ")) }
  end
  -- Flights keep the codes of their four airlines at every scale, and of small ones not all airlines are there.
  local function airline_is_there(row)
    return get("flight", "airline_code", row) < rows_of("airline")
  end
  local function of_aircraft(column, flight)
    return get("aircraft", column, get("flight", "aircraft_code", flight))
  end

  local function simple_joins()
    local days = rows_of("day_name")
    return {
      question(1, "SELECT c.city_name,s.state_name,c.city_code FROM {city} c,{state} s WHERE c.city_code=5 AND c.state_code=s.state_code"),
      question(rows_of("city"), "SELECT c.city_name,s.state_name,c.city_code FROM {state} s,{city} c WHERE c.state_code=s.state_code"),
      question(days, "SELECT m.month_name,d.day_name FROM {month_name} m,{day_name} d WHERE m.month_number=d.day_code"),
      question(days - 3, [[SELECT m.month_name,d.day_name FROM {month_name} m,{day_name} d
        WHERE m.month_number=d.day_code AND d.day_code>=3]]),
      question(rows_of("flight"), "SELECT f.flight_code,a.aircraft_type FROM {flight} f,{aircraft} a WHERE f.aircraft_code=a.aircraft_code"),
    }
  end

  local function joins()
    return { question(count("flight", airline_is_there), [[SELECT l.airline_name,a.aircraft_type
      FROM {aircraft} a,{airline} l,{flight} f WHERE f.aircraft_code=a.aircraft_code AND f.airline_code=l.airline_code]]) }
  end

  -- `restrict_code` alone is the first half of the key that finds a restriction's carriers.
  local function key_prefix_joins()
    local carriers, found = {}, 0
    for row = 0, rows_of("restrict_carrier") - 1 do
      if get("restrict_carrier", "airline_code", row) < rows_of("airline") then
        local code = get("restrict_carrier", "restrict_code", row)
        carriers[code] = (carriers[code] or 0) + 1
      end
    end
    for row = 0, rows_of("fare") - 1 do
      found = found + (carriers[get("fare", "restrict_code", row)] or 0)
    end
    return { question(found, [[SELECT p.fare_code FROM {restrict_carrier} c,{airline} l,{fare} p
      WHERE c.airline_code=l.airline_code AND p.restrict_code=c.restrict_code]]) }
  end

  -- Of one column with and without a key, of whole rows, and of joins in two orders.
  local function distincts()
    local pairs_ = distinct("flight", { "airline_code", "aircraft_code" }, airline_is_there)
    local all_three = [[SELECT DISTINCT l.airline_name,a.aircraft_type FROM %s
      WHERE f.aircraft_code=a.aircraft_code AND f.airline_code=l.airline_code]]
    return {
      question(distinct("aircraft", { "category" }), "SELECT DISTINCT category FROM {aircraft}"),
      question(distinct("flight", { "from_airport" }), "SELECT DISTINCT from_airport FROM {flight}"),
      question(distinct("flight", { "aircraft_code" }), "SELECT DISTINCT aircraft_code FROM {flight}"),
      question(rows_of("fare"), "SELECT DISTINCT * FROM {fare}"),
      question(distinct("flight_fare", { "flight_code" }), "SELECT DISTINCT flight_code FROM {flight_fare}"),
      question(rows_of("flight"), [[SELECT DISTINCT f.flight_code,a.aircraft_type FROM {flight} f,{aircraft} a
        WHERE f.aircraft_code=a.aircraft_code]]),
      question(pairs_, format(all_three, "{aircraft} a,{airline} l,{flight} f")),
      question(pairs_, format(all_three, "{flight} f,{aircraft} a,{airline} l")),
    }
  end

  -- Questions about groups: 28. The original has a 29th, with the function IF; its count shows that one is left out, and
  -- we take it to be this one.
  local function groups()
    local all = {}
    local function add(rows, sql)
      all[#all + 1] = question(rows, sql)
    end
    local days = distinct("flight_day", { "day_code" })
    local of_days = "FROM {flight_day} f,{day_name} d WHERE d.day_code=f.day_code GROUP BY"
    add(days, format("SELECT d.day_name,d.day_code,COUNT(*) %s d.day_name,d.day_code ORDER BY d.day_code", of_days))
    add(days, format("SELECT d.day_name,COUNT(*) %s d.day_name", of_days))
    add(rows_of("day_name") - 3, [[SELECT month_name,day_name FROM {month_name},{day_name}
      WHERE month_number=day_code AND day_code>2 GROUP BY month_name,day_name]])
    add(days, format("SELECT d.day_name,f.day_code,COUNT(*) %s f.day_code,d.day_name ORDER BY f.day_code", of_days))
    -- Without groups: one row each. SQLite has no standard deviation, but what it is worked out from.
    local deviation = mysql and "STD(engines)" or postgres and "STDDEV_POP(engines)"
      or "AVG(engines*engines)-AVG(engines)*AVG(engines)"
    for _, asked in ipairs({ "SUM(engines) FROM {aircraft}", "AVG(engines) FROM {aircraft}",
      "AVG(engines) FROM {aircraft} WHERE engines>0",
      "COUNT(*),MIN(pay_load),MAX(pay_load) FROM {aircraft} WHERE pay_load>0",
      "MIN(flight_code),MIN(flight_code) FROM {flight}", "MIN(from_airport),MIN(to_airport) FROM {flight}",
      "COUNT(*) FROM {aircraft} WHERE pay_load>60", "COUNT(*) FROM {aircraft} WHERE pay_load<>0",
      "COUNT(*) FROM {flight} WHERE flight_code>=450", deviation .. " FROM {aircraft}" }) do
      add(1, "SELECT " .. asked)
    end

    add(distinct("flight", { "from_airport", "to_airport" }, function(row)
      return get("flight", "from_airport", row) == 1 and get("flight", "to_airport", row) == 2
    end), [[SELECT from_airport,to_airport,AVG(time_elapsed) FROM {flight}
      WHERE from_airport=1 AND to_airport=2 GROUP BY from_airport,to_airport]])
    add(distinct("ground_service", { "city_code" }, function(row)
      return get("ground_service", "ground_fare", row) ~= 0
    end), "SELECT city_code,AVG(ground_fare) FROM {ground_service} WHERE ground_fare<>0 GROUP BY city_code")
    add(distinct("ground_service", { "city_code" }), "SELECT COUNT(*),g.city_code FROM {ground_service} g GROUP BY g.city_code")
    -- Categories with more than four aircraft of two engines.
    local categories = 0
    for category = 0, 5 do
      categories = categories + (count("aircraft", function(row)
        return get("aircraft", "engines", row) == 2 and get("aircraft", "category", row) == category
      end) > 4 and 1 or 0)
    end
    -- PostgreSQL knows no alias in HAVING.
    add(categories, format("SELECT category,COUNT(*) AS totalnr FROM {aircraft} WHERE engines=2 GROUP BY category HAVING %s>4",
      postgres and "COUNT(*)" or "totalnr"))
    add(categories, "SELECT category,COUNT(*) FROM {aircraft} WHERE engines=2 GROUP BY category HAVING COUNT(*)>4")

    add(different("flight_class", function(row)
      local flight = get("flight_class", "flight_code", row)
      local range, stops = of_aircraft("range_miles", flight), get("flight", "stops", flight)
      return range ~= 0 and (stops == 1 or stops == 2)
        and { get("flight", "flight_number", flight), range, get("flight_class", "fare_class", row) }
    end), [[SELECT f.flight_number,a.range_miles,c.fare_class FROM {aircraft} a,{flight} f,{flight_class} c
      WHERE f.flight_code=c.flight_code AND f.aircraft_code=a.aircraft_code AND a.range_miles<>0
      AND (f.stops=1 OR f.stops=2) GROUP BY f.flight_number,a.range_miles,c.fare_class]])
    add(different("flight", function(row)
      local from, to = get("flight", "from_airport", row), get("flight", "to_airport", row)
      local range, elapsed = of_aircraft("range_miles", row), get("flight", "time_elapsed", row)
      return from ~= to and range ~= 0 and elapsed ~= 0 and { from, to, range, elapsed }
    end), [[SELECT f.from_airport,f.to_airport,a.range_miles,f.time_elapsed FROM {aircraft} a,{flight} f
      WHERE a.aircraft_code=f.aircraft_code AND f.to_airport<>f.from_airport AND a.range_miles<>0
      AND f.time_elapsed<>0 GROUP BY f.from_airport,f.to_airport,a.range_miles,f.time_elapsed]])

    -- If a flight seems to take this many hours longer than it does, that is the difference of time zones; the second
    -- time within half a day. Times are hours and minutes, of which the latter are the last two digits.
    local function zone(column, row)
      return get("airport", "time_zone_code", get("flight", column, row))
    end
    local function minutes(column, row)
      local time = get("flight", column, row)
      return floor(time / 100) * 60 + time % 100
    end
    local function difference(row)
      return minutes("arrival_time", row) - minutes("departure_time", row) - get("flight", "time_elapsed", row)
    end
    local minutes_of = "((f.%s-f.%s%%100)/100*60+f.%s%%100)"
    local difference_min = format("(%s-%s-f.time_elapsed)", format(minutes_of, "arrival_time", "arrival_time", "arrival_time"),
      format(minutes_of, "departure_time", "departure_time", "departure_time"))
    local shifted_h = format("(%s+2160)%%1440/60.0-12", difference_min)
    local columns = "SELECT DISTINCT b.time_zone_code AS from_zone,e.time_zone_code AS to_zone"
    local joined_by = [[FROM {flight} f,{airport} b,{airport} e
      WHERE f.from_airport=b.airport_code AND f.to_airport=e.airport_code]]
    add(different("flight", function(row)
      return { zone("from_airport", row), zone("to_airport", row), difference(row) }
    end), format("%s,%s/60.0 AS time_zone_diff %s GROUP BY b.time_zone_code,e.time_zone_code,f.arrival_time," ..
      "f.departure_time,f.time_elapsed", columns, difference_min, joined_by))
    add(different("flight", function(row)
      local shifted = (difference(row) + 36 * 60) % (24 * 60)
      return shifted < 22 * 60 and { zone("from_airport", row), zone("to_airport", row), shifted }
    end), format("%s,%s AS time_zone_diff %s AND %s<10", columns, shifted_h, joined_by, shifted_h))

    -- Four tables by all that they share; in order, backwards, and in order again.
    local found = different("airport_service", function(row)
      local c, a = get("airport_service", "city_code", row), get("airport_service", "airport_code", row)
      local s, country = get("airport", "state_code", a), get("airport", "country_name", a)
      return get("city", "state_code", c) == s and get("city", "country_name", c) == country
        and get("state", "country_name", s) == country
        and get("city", "time_zone_code", c) == get("airport", "time_zone_code", a)
        and { country, s, c, get("airport_service", "direction", row) }
    end)
    for _, order in ipairs({ "", " DESC", "" }) do
      add(found, [[SELECT a.country_name,s.state_name,c.city_name,p.direction
        FROM {airport_service} p,{state} s,{airport} a,{city} c
        WHERE p.city_code=c.city_code AND p.airport_code=a.airport_code
        AND s.state_code=a.state_code AND s.state_code=c.state_code AND a.state_code=c.state_code
        AND a.country_name=c.country_name AND a.country_name=s.country_name AND c.time_zone_code=a.time_zone_code
        GROUP BY a.country_name,s.state_name,c.city_name,p.direction ORDER BY s.state_name]] .. order)
    end

    -- The surcharge of a class depends on the class alone.
    local of_fares = "f.from_airport,f.to_airport,f.fare_class,c.night,f.one_way_cost,f.rnd_trip_cost,c.class_days"
    add(distinct("fare", { "fare_class", "one_way_cost", "rnd_trip_cost" }, function(row)
      local cost = get("fare", "one_way_cost", row)
      return get("fare", "from_airport", row) == 2 and get("fare", "to_airport", row) == 6 and cost >= 50 and cost <= 350
    end), format([[SELECT %s FROM {compound_class} c,{fare} f
      WHERE c.fare_class=f.fare_class AND f.one_way_cost<=350 AND f.one_way_cost>=50
      AND f.from_airport=2 AND f.to_airport=6 GROUP BY %s ORDER BY f.one_way_cost]], of_fares, of_fares))
    local of_jets = "a.engines,a.category,a.cruising_speed,f.from_airport,f.to_airport"
    add(different("flight", function(row)
      local from, to = get("flight", "from_airport", row), get("flight", "to_airport", row)
      local engines = of_aircraft("engines", row)
      return of_aircraft("category", row) == 3 and engines >= 1 and from ~= to and get("flight", "stops", row) > 0
        and { engines, of_aircraft("cruising_speed", row), from, to }
    end), format([[SELECT %s FROM {aircraft} a,{flight} f WHERE a.category='category 3' AND a.engines>=1
      AND a.aircraft_code=f.aircraft_code AND f.to_airport<>f.from_airport AND f.stops>0
      GROUP BY %s ORDER BY a.engines DESC]], of_jets, of_jets))
    return all
  end

  -- The first turn of each table, and the turns of all.
  local firsts, rows = {}, 0
  for place, declared in ipairs(ATIS) do
    firsts[place] = rows
    rows = rows + rows_of(declared.name)
  end
  local function insert(index)
    local place = 1
    while firsts[place + 1] and firsts[place + 1] <= index do
      place = place + 1
    end
    local declared, row = ATIS[place], index - firsts[place]
    change(1, format("INSERT INTO %s%s VALUES (%s)", PREFIX, declared.name, joined(1, #declared.columns, function(number)
      local column = declared.columns[number]
      local of_row = value(column, row)
      return column.kind == "~" and format("'%s %d'", column.name, of_row) or of_row
    end)))
  end
  local loops, needs = of(100), { needs = "create_table" }
  return {
    operation("create_table", "other", #ATIS, function(index)
      local declared = ATIS[index + 1]
      tell_all(create(declared.name, map(1, #declared.columns, function(number)
        local column = declared.columns[number]
        return format("%s %s NOT NULL", column.name, column.kind == "~" and "CHAR(30)" or "INTEGER")
      end), declared.primary, declared.indexes))
    end),
    operation("insert", "write", rows, insert, needs),
    rounds("select_simple_join", loops, 5, simple_joins, needs),
    rounds("select_join", loops, 1, joins, needs),
    rounds("select_key_prefix_join", loops, 1, key_prefix_joins, needs),
    rounds("select_distinct", loops, 8, distincts, needs),
    rounds("select_group", loops, 28, groups, needs),
    operation("drop_table", "other", #ATIS, function(index)
      tell("DROP TABLE " .. PREFIX .. ATIS[index + 1].name)
    end, needs),
  }
end
