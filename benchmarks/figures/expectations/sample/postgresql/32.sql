SELECT name FROM vessels WHERE imo = '9604712'
