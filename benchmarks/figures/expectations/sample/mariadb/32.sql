SELECT Name FROM vessels WHERE imo = '9604712'
