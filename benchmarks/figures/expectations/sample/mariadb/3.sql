SELECT `Opening Hours` FROM branches WHERE name = 'Hillcrest'
